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
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMASKMOVPS;
import static io.steelyard.kernels.assembler.Op.VMASKMOVPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
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
 * {@link Product#F32} and {@link Product#F16} with the 16 registers of AVX2: 16 rows by six tokens
 * at a time, so that a panel and a tile are gone through up to four times.
 */
final class FloatProduct {
  private static final int TOKENS = 6;
  private static final Vec LANE_BITS = ymm(15);

  private final Assembler a;
  private final Product product;
  private final int tokens;

  private FloatProduct(Assembler a, Product product, int tokens) {
    this.a = a;
    this.product = product;
    this.tokens = tokens;
  }

  /** See {@link MachineCode#product}. */
  static Function of(Product product, int tokens) {
    return Function.avx2(a -> new FloatProduct(a, product, tokens).write());
  }

  private static Vec sum(int token, int eight) {
    return ymm(2 * token + eight);
  }

  private void write() {
    a.push(RBX);
    // Bit i of lane i tells whether the lane's row is written.
    Snippets.bytes(a, LANE_BITS, 0x8040_2010_0804_0201L, 0, RAX);
    for (int first = 0; first < tokens; first += TOKENS) {
      int count = Math.min(TOKENS, tokens - first);
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
    int rowBytes = product == Product.F16 ? 2 : 4;
    for (int i = 0; i < 2 * count; i++) {
      Snippets.clear(a, ymm(i));
    }
    a.lea(R10, at(RDI, 16 * rowBytes * half));
    a.lea(R11, at(RSI, product.tokenBytes() * first));
    a.mov(RAX, R8);
    Label chunk = a.loop();
    for (int step = 0; step < Product.STEPS; step++) {
      for (int eight = 0; eight < 2; eight++) {
        a.op(
            product == Product.F16 ? VCVTPH2PS : VMOVUPS,
            ymm(12 + eight),
            at(R10, rowBytes * (Product.ROWS * step + 8 * eight)));
      }
      for (int token = 0; token < count; token++) {
        a.op(VBROADCASTSS, ymm(14), at(R11, product.tokenBytes() * token + 4 * step));
        a.op(VFMADD231PS, sum(token, 0), ymm(12), ymm(14));
        a.op(VFMADD231PS, sum(token, 1), ymm(13), ymm(14));
      }
    }
    a.add(R10, product.panelChunk());
    a.add(R11, product.tileChunk());
    a.sub(RAX, 1);
    a.jump(Condition.NOT_EQUAL, chunk);
  }

  private void store(int count, int half) {
    Label plain = new Label();
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
