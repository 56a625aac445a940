package io.steelyard.kernels.amx;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VCVTNE2PS2BF16;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPANDD;
import static io.steelyard.kernels.assembler.Op.VPERMW;
import static io.steelyard.kernels.assembler.Op.VPORD;
import static io.steelyard.kernels.assembler.Op.VPSLLD_IMM;
import static io.steelyard.kernels.assembler.Op.VSUBPS;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.Snippets;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.TileCode;

/**
 * Panels of keys or values, 32 lanes for every step, as two blocks of activations of a split
 * product, 16 lanes each: see {@link TileCode}.
 *
 * <p>Arguments of its functions: the panel; where the first block's first chunk goes; bytes from
 * there to where the second block's goes; steps, at least 1. A last chunk is filled up with zeros.
 */
final class TilePanels {
  private static final int LANES = 32;
  private static final int PAIRS = 16;
  private static final int ROW = 64;
  private static final Vec ORDER = zmm(31);
  private static final Vec UPPER_HALF = zmm(30);

  private final Assembler a;
  private final DataType type;

  private TilePanels(Assembler a, DataType type) {
    this.a = a;
    this.type = type;
  }

  /** Of float16 or float32 panels. */
  static Function of(DataType type) {
    return Function.of(a -> new TilePanels(a, type).write());
  }

  private int stepBytes() {
    return LANES * type.blockBytes();
  }

  /** R8 steps of a chunk that are left, R9 its pairs, R11 the places of the second block. */
  private void write() {
    order();
    a.mov(RAX, 0xFFFF_0000L);
    a.vpbroadcastd(UPPER_HALF, RAX);
    Label chunk = a.loop();
    a.mov(R8, RCX);
    a.mov(R9, PAIRS);
    a.mov(R10, RSI);
    a.lea(R11, at(RSI, RDX, 1));
    Label pair = a.loop();
    Label both = new Label();
    Label one = new Label();
    Label loaded = new Label();
    a.cmp(R8, 1);
    a.jump(Condition.GREATER, both);
    a.jump(Condition.EQUAL, one);
    for (int i = 0; i < 4; i++) {
      Snippets.clear(a, zmm(i));
    }
    a.jmp(loaded);
    a.place(one);
    for (int half = 0; half < 2; half++) {
      load(half, 0);
      Snippets.clear(a, zmm(2 + half));
    }
    a.jmp(loaded);
    a.place(both);
    for (int half = 0; half < 2; half++) {
      load(half, 0);
      load(2 + half, 1);
    }
    a.place(loaded);
    split(0, R10);
    split(1, R11);
    a.add(RDI, 2 * stepBytes());
    a.add(R10, ROW);
    a.add(R11, ROW);
    a.sub(R8, 2);
    a.sub(R9, 1);
    a.jump(Condition.NOT_EQUAL, pair);
    a.add(RSI, TileCode.activationBytes(true));
    a.sub(RCX, TileCode.CHUNK);
    a.jump(Condition.GREATER, chunk);
  }

  /** Words 0, 16, 1, 17 and so on. */
  private void order() {
    Snippets.indices(a, ORDER, RAX);
    Snippets.constant(a, zmm(0), 16, RAX);
    a.op(VPADDD, zmm(0), zmm(0), ORDER);
    a.op(VPSLLD_IMM, zmm(0), zmm(0), 16);
    a.op(VPORD, ORDER, ORDER, zmm(0));
  }

  /** 16 lanes of a step. */
  private void load(int register, int step) {
    int half = register % 2;
    Mem from = at(RDI, step * stepBytes() + half * stepBytes() / 2);
    a.op(type == DataType.F16 ? VCVTPH2PS : VMOVUPS, zmm(register), from);
  }

  /** Pairs of a half's values of two steps, high parts and low ones. */
  private void split(int half, Gpr to) {
    Vec first = zmm(half);
    Vec second = zmm(2 + half);
    a.op(VCVTNE2PS2BF16, zmm(4), second, first);
    a.op(VPERMW, zmm(4), ORDER, zmm(4));
    a.op(VMOVUPS_STORE, at(to), zmm(4));
    a.op(VPSLLD_IMM, zmm(5), zmm(4), 16);
    a.op(VSUBPS, first, first, zmm(5));
    a.op(VPANDD, zmm(5), zmm(4), UPPER_HALF);
    a.op(VSUBPS, second, second, zmm(5));
    a.op(VCVTNE2PS2BF16, zmm(4), second, first);
    a.op(VPERMW, zmm(4), ORDER, zmm(4));
    a.op(VMOVUPS_STORE, at(to, TileCode.TILE_BYTES), zmm(4));
  }
}
