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
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMASKMOVPS;
import static io.steelyard.kernels.assembler.Op.VMASKMOVPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPCMPEQD;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.Product;

/**
 * {@link Product}s of float32, float16 and bytes with the 16 registers of AVX2: 16 rows by six
 * tokens at a time, of bytes by three, so that a panel and a tile are gone through up to four
 * times.
 */
final class NarrowProduct {
  private static final Vec LANE_BITS = ymm(15);

  private final Assembler a;
  private final Product product;
  private final int tokens;
  private final Dot dot;

  private NarrowProduct(Assembler a, Product product, int tokens, Dot dot) {
    this.a = a;
    this.product = product;
    this.tokens = tokens;
    this.dot = dot;
  }

  /** See {@link MachineCode#product}. */
  static Function of(Product product, int tokens, Dot dot) {
    return dot.function(a -> new NarrowProduct(a, product, tokens, dot).write());
  }

  /** Tokens at a time. */
  private int step() {
    return product.isBytes() ? 3 : 6;
  }

  private static Vec sum(int token, int eight) {
    return ymm(2 * token + eight);
  }

  private void write() {
    a.push(RBX);
    for (int first = 0; first < tokens; first += step()) {
      int count = Math.min(step(), tokens - first);
      for (int half = 0; half < 2; half++) {
        multiply(first, count, half);
        store(count, half);
      }
      for (int token = 0; token < count; token++) {
        a.add(RDX, RCX);
      }
    }
    a.pop(RBX);
  }

  private void multiply(int first, int count, int half) {
    for (int i = 0; i < 2 * count; i++) {
      Snippets.clear(a, ymm(i));
    }
    a.lea(R10, at(RDI, 16 * rowBytes() * half));
    a.lea(R11, at(RSI, Product.TOKEN_BYTES * first));
    a.mov(RAX, R8);
    Label chunk = a.loop();
    if (product.isBytes()) {
      bytes(first, count);
    } else {
      floats(count);
    }
    a.add(R10, product.panelChunk());
    a.add(R11, product.tileChunk());
    a.sub(RAX, 1);
    a.jump(Condition.NOT_EQUAL, chunk);
  }

  /** Bytes of a panel's step for a row. */
  private int rowBytes() {
    return product == Product.F16 ? 2 : 4;
  }

  private Mem weights(int step, int eight) {
    return at(R10, rowBytes() * (Product.ROWS * step + 8 * eight));
  }

  private Mem activation(int token, int step) {
    return at(R11, Product.TOKEN_BYTES * token + 4 * step);
  }

  private void floats(int count) {
    for (int step = 0; step < Product.STEPS; step++) {
      for (int eight = 0; eight < 2; eight++) {
        a.op(product == Product.F16 ? VCVTPH2PS : VMOVUPS, ymm(12 + eight), weights(step, eight));
      }
      for (int token = 0; token < count; token++) {
        a.op(VBROADCASTSS, ymm(14), activation(token, step));
        a.op(VFMADD231PS, sum(token, 0), ymm(12), ymm(14));
        a.op(VFMADD231PS, sum(token, 1), ymm(13), ymm(14));
      }
    }
  }

  /** Int32 sums of a chunk. */
  private static Vec chunkSum(int token, int eight) {
    return ymm(6 + 2 * token + eight);
  }

  /** A constant of 16 rows, so many bytes into a chunk of the panel. */
  private void constants(int offset) {
    for (int eight = 0; eight < 2; eight++) {
      a.op(VMOVUPS, ymm(12 + eight), at(R10, offset + 32 * eight));
    }
  }

  private void bytes(int first, int count) {
    int runs = product == Product.BYTES_HALVES ? 2 : 1;
    for (int run = 0; run < runs; run++) {
      int behind = run * Product.SECOND_HALF;
      for (int token = 0; token < count; token++) {
        for (int eight = 0; eight < 2; eight++) {
          a.op(VMOVUPS, chunkSum(token, eight), at(R10, Product.SUMS + behind + 32 * eight));
        }
      }
      for (int step = run * Product.STEPS / runs; step < (run + 1) * Product.STEPS / runs; step++) {
        for (int eight = 0; eight < 2; eight++) {
          a.op(VMOVUPS, ymm(12 + eight), weights(step, eight));
        }
        for (int token = 0; token < count; token++) {
          a.op(VBROADCASTSS, ymm(14), activation(token, step));
          a.op(dot.op(), chunkSum(token, 0), ymm(14), ymm(12));
          a.op(dot.op(), chunkSum(token, 1), ymm(14), ymm(13));
        }
      }
      constants(Product.SCALES + behind);
      for (int token = 0; token < count; token++) {
        a.op(VBROADCASTSS, ymm(14), ofTile(Product.tileScale(first + token), first));
        for (int eight = 0; eight < 2; eight++) {
          a.op(VMULPS, ymm(15), ymm(12 + eight), ymm(14));
          a.op(VCVTDQ2PS, chunkSum(token, eight), chunkSum(token, eight));
          a.op(VFMADD231PS, sum(token, eight), ymm(15), chunkSum(token, eight));
        }
      }
    }
    if (product == Product.BYTES_OFFSET) {
      constants(Product.OFFSETS);
      for (int token = 0; token < count; token++) {
        a.op(VBROADCASTSS, ymm(14), ofTile(Product.tileSum(first + token), first));
        a.op(VFMADD231PS, sum(token, 0), ymm(12), ymm(14));
        a.op(VFMADD231PS, sum(token, 1), ymm(13), ymm(14));
      }
    }
  }

  /** A constant of a chunk of the tile, where R11 is at the first of some tokens. */
  private Mem ofTile(int place, int first) {
    return at(R11, place - Product.TOKEN_BYTES * first);
  }

  private void store(int count, int half) {
    Label plain = new Label();
    // Bit i of lane i tells whether the lane's row is written.
    Snippets.bytes(a, LANE_BITS, 0x8040_2010_0804_0201L, 0, RAX);
    for (int eight = 0; eight < 2; eight++) {
      Vec rows = ymm(12 + eight);
      a.mov(RAX, R9);
      if (half + eight > 0) {
        a.shr(RAX, 16 * half + 8 * eight);
      }
      Snippets.broadcast(a, rows, RAX);
      a.op(VPAND, rows, rows, LANE_BITS);
      a.op(VPCMPEQD, rows, rows, LANE_BITS);
    }
    a.mov(RAX, R9);
    a.shr(RAX, 32);
    a.test(RAX, RAX);
    a.jump(Condition.EQUAL, plain);
    eachToken(
        count,
        half,
        (sum, rows, place) -> {
          a.op(VMASKMOVPS, ymm(14), rows, place);
          a.op(VADDPS, sum, sum, ymm(14));
        });
    a.place(plain);
    eachToken(count, half, (sum, rows, place) -> a.op(VMASKMOVPS_STORE, sum, rows, place));
  }

  /** Something for a sum of eight rows: the lanes that count, and its place in y. */
  @FunctionalInterface
  private interface Eight {
    void write(Vec sum, Vec rows, Mem place);
  }

  private void eachToken(int count, int half, Eight body) {
    a.mov(RBX, RDX);
    for (int token = 0; token < count; token++) {
      for (int eight = 0; eight < 2; eight++) {
        body.write(sum(token, eight), ymm(12 + eight), at(RBX, 64 * half + 32 * eight));
      }
      a.add(RBX, RCX);
    }
  }
}
