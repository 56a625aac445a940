package io.steelyard.kernels.amx;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Gpr.RSP;
import static io.steelyard.kernels.assembler.Mask.K1;
import static io.steelyard.kernels.assembler.Mask.K2;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VCVTNE2PS2BF16;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.avx2.Snippets;
import io.steelyard.kernels.avx512.Square;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.TileCode;

/**
 * Activations of up to 16 tokens as a block of bf16 pairs, see {@link TileCode}.
 *
 * <p>Arguments of its functions: the first token's activations; bytes from one token's to the next;
 * where the first chunk's tile goes; tokens, 1 to 16; whole chunks; activations after the last of
 * them. What stands for tokens that aren't there is undefined.
 */
final class TileActivations {
  private static final int ROW = 64;

  private final Assembler a;
  private final boolean split;

  /** Bytes of a chunk. */
  private final int room;

  private TileActivations(Assembler a, boolean split) {
    this.a = a;
    this.split = split;
    room = TileCode.activationBytes(split);
  }

  static Function of(boolean split) {
    return Function.of(a -> new TileActivations(a, split).write());
  }

  /** Rows are made on the stack and turned from there. */
  private void write() {
    a.push(RBP);
    a.mov(RBP, RSP);
    a.sub(RSP, room);
    a.and(RSP, -64);
    Snippets.first(a, K1, R9, RAX);
    a.shr(RAX, 16);
    a.kmovq(K2, RAX);
    Label rest = new Label();
    Label end = new Label();
    a.test(R8, R8);
    a.jump(Condition.EQUAL, rest);
    Label chunk = a.loop();
    chunk(false);
    a.add(RDI, TileCode.CHUNK * Float.BYTES);
    a.add(RDX, room);
    a.sub(R8, 1);
    a.jump(Condition.NOT_EQUAL, chunk);
    a.place(rest);
    a.test(R9, R9);
    a.jump(Condition.EQUAL, end);
    chunk(true);
    a.place(end);
    a.mov(RSP, RBP);
    a.pop(RBP);
  }

  private void chunk(boolean some) {
    a.mov(R10, RDI);
    a.mov(R11, RSP);
    a.mov(RAX, RCX);
    Label token = a.loop();
    (some ? a.zero(K1) : a).op(VMOVUPS, zmm(0), at(R10));
    (some ? a.zero(K2) : a).op(VMOVUPS, zmm(1), at(R10, 64));
    if (split) {
      Split.store(a, at(R11), at(R11, TileCode.TILE_BYTES));
    } else {
      a.op(VCVTNE2PS2BF16, zmm(0), zmm(1), zmm(0));
      a.op(VMOVUPS_STORE, at(R11), zmm(0));
    }
    a.add(R10, RSI);
    a.add(R11, ROW);
    a.sub(RAX, 1);
    a.jump(Condition.NOT_EQUAL, token);
    for (int tile = 0; tile < room; tile += TileCode.TILE_BYTES) {
      for (int i = 0; i < 16; i++) {
        a.op(VMOVUPS, zmm(i), at(RSP, tile + ROW * i));
      }
      Square.turn(a);
      for (int i = 0; i < 16; i++) {
        a.op(VMOVUPS_STORE, at(RDX, tile + ROW * i), zmm(i));
      }
    }
  }
}
