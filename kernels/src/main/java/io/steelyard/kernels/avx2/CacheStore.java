package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VCVTPS2PH;
import static io.steelyard.kernels.assembler.Op.VEXTRACTF128;
import static io.steelyard.kernels.assembler.Op.VMOVDQU_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVSS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VPEXTRB_STORE;
import static io.steelyard.kernels.assembler.Op.VPEXTRW_STORE;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.Product;

/**
 * Writes one token's keys or values, float32, to its place in the panels of a KV cache.
 *
 * <p>Arguments of its functions: the values of all heads, one after the other; where those of the
 * first head go; values of a head, at least 1; heads, at least 1; bytes from one head's panels to
 * the next's; and for values the bytes from one run of 32 to the next, for keys of q8_0 where the
 * scale of the first head's first 32 values goes.
 */
final class CacheStore {
  private static final int LANES = 8;

  private final Assembler a;
  private final DataType type;

  private CacheStore(Assembler a, DataType type) {
    this.a = a;
    this.type = type;
  }

  /** A head's key becomes one of 32 columns of its panel. */
  static Function key(DataType type) {
    return Function.avx2(a -> new CacheStore(a, type).keys());
  }

  /** A head's values become rows of 32. */
  static Function value(DataType type) {
    return Function.avx2(a -> new CacheStore(a, type).values());
  }

  private boolean isHalf() {
    return type == DataType.F16;
  }

  private int elementBytes() {
    return isHalf() ? 2 : 4;
  }

  /** A loop over heads: RDI goes on by itself, R10 is the head's place, R11 counts its values. */
  private void heads(Runnable head) {
    Label next = a.loop();
    a.mov(R10, RSI);
    a.mov(R11, RDX);
    head.run();
    a.add(RSI, R8);
    a.sub(RCX, 1);
    a.jump(Condition.NOT_EQUAL, next);
  }

  /** Writes single values until R11 is 0, each so many bytes behind the one before. */
  private void singles(Gpr place, int distance) {
    Label next = a.loop();
    if (isHalf()) {
      a.op(VMOVSS, xmm(0), at(RDI));
      a.op(VCVTPS2PH, xmm(0), xmm(0), 0);
      a.op(VPEXTRW_STORE, at(place), xmm(0), 0);
    } else {
      a.mov32(RAX, at(RDI));
      a.mov32(at(place), RAX);
    }
    a.add(RDI, Float.BYTES);
    a.add(place, distance);
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, next);
  }

  private void keys() {
    if (type == DataType.Q8_0) {
      CacheBytes.constants(a);
      heads(this::blocksOfKeys);
    } else {
      heads(() -> singles(R10, Product.ROWS * elementBytes()));
    }
  }

  private void values() {
    a.push(RBX);
    if (type == DataType.Q8_0) {
      CacheBytes.constants(a);
      heads(this::blocksOfValues);
    } else {
      heads(this::runs);
    }
    a.pop(RBX);
  }

  /** Blocks of 32 become columns, their scales behind each other in the group's. */
  private void blocksOfKeys() {
    a.mov(RAX, R9);
    Label block = a.loop();
    CacheBytes.round(a, at(RAX));
    for (int i = 0; i < 32; i++) {
      if (i == 16) {
        a.op(VEXTRACTF128, xmm(0), ymm(0), 1);
      }
      a.op(VPEXTRB_STORE, at(R10, Product.ROWS * i), xmm(0), i % 16);
    }
    a.add(R10, 32 * Product.ROWS);
    a.add(RAX, 4 * Product.ROWS);
    a.sub(R11, 32);
    a.jump(Condition.NOT_EQUAL, block);
    a.add(R9, R8);
  }

  private void blocksOfValues() {
    Label block = a.loop();
    CacheBytes.round(a, at(R10, 32));
    a.op(VMOVDQU_STORE, at(R10), ymm(0));
    a.add(R10, R9);
    a.sub(R11, 32);
    a.jump(Condition.NOT_EQUAL, block);
  }

  private void runs() {
    Label run = a.loop();
    Label rest = new Label();
    Label end = new Label();
    a.mov(RBX, R10);
    for (int part = 0; part < Product.ROWS / LANES; part++) {
      a.cmp(R11, LANES);
      a.jump(Condition.LESS, rest);
      a.op(VMOVUPS, ymm(0), at(RDI));
      if (isHalf()) {
        a.op(VCVTPS2PH, at(RBX), ymm(0), 0);
      } else {
        a.op(VMOVUPS_STORE, at(RBX), ymm(0));
      }
      a.add(RDI, 4 * LANES);
      a.add(RBX, elementBytes() * LANES);
      a.sub(R11, LANES);
      a.jump(Condition.EQUAL, end);
    }
    a.add(R10, R9);
    a.jmp(run);
    a.place(rest);
    singles(RBX, elementBytes());
    a.place(end);
  }
}
