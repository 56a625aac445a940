package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mask.K1;
import static io.steelyard.kernels.assembler.Mask.K2;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VDPBF16PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMOVDQU32;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTD;
import static io.steelyard.kernels.assembler.Op.VPDPBUSD;
import static io.steelyard.kernels.assembler.Op.VPXORD;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Op;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.Product;
import java.util.Optional;

/** {@link Product}s in registers of 64 bytes. Float32 sums are behind the int32 ones. */
final class WideProduct {
  private final Assembler a;
  private final Product product;
  private final int count;

  private WideProduct(Assembler a, Product product, int count) {
    this.a = a;
    this.product = product;
    this.count = count;
  }

  /** See {@link MachineCode#product}. */
  static Function of(Product product, int tokens) {
    return Function.of(a -> new WideProduct(a, product, tokens).write());
  }

  /** Float32 sums. */
  private Vec sum(int token, int half) {
    return zmm((product.isBytes() ? 12 : 0) + 2 * token + half);
  }

  /** Int32 sums of a chunk. */
  private Vec chunkSum(int token, int half) {
    return zmm(2 * token + half);
  }

  private void write() {
    for (int token = 0; token < count; token++) {
      for (int half = 0; half < 2; half++) {
        clear(sum(token, half));
      }
    }
    Label chunk = a.loop();
    if (product.isBytes()) {
      bytes();
    } else {
      floats();
    }
    a.add(RDI, product.panelChunk());
    a.add(RSI, product.tileChunk());
    a.sub(R8, 1);
    a.jump(Condition.NOT_EQUAL, chunk);
    store();
  }

  private void clear(Vec register) {
    a.op(VPXORD, register, register, register);
  }

  private void bytes() {
    Vec first = zmm(24);
    Vec second = zmm(25);
    int runs = product.runs();
    for (int run = 0; run < runs; run++) {
      int constants = run * product.secondHalf();
      for (int half = 0; half < 2; half++) {
        a.op(VMOVDQU32, chunkSum(0, half), at(RDI, Product.SUMS + constants + 64 * half));
        for (int token = 1; token < count; token++) {
          a.op(VMOVDQU32, chunkSum(token, half), chunkSum(0, half));
        }
      }
      for (int step = run * Product.STEPS / runs; step < (run + 1) * Product.STEPS / runs; step++) {
        a.op(VMOVDQU32, first, at(RDI, 128 * step));
        a.op(VMOVDQU32, second, at(RDI, 128 * step + 64));
        for (int token = 0; token < count; token++) {
          Vec activation = zmm(26 + token % 2);
          a.op(VPBROADCASTD, activation, at(RSI, 32 * token + 4 * step));
          a.op(VPDPBUSD, chunkSum(token, 0), activation, first);
          a.op(VPDPBUSD, chunkSum(token, 1), activation, second);
        }
      }
      scale(constants, first, second);
    }
    if (product.hasOffset()) {
      a.op(VMOVUPS, first, at(RDI, product.offsets()));
      a.op(VMOVUPS, second, at(RDI, product.offsets() + 64));
      for (int token = 0; token < count; token++) {
        a.broadcast(VFMADD231PS, sum(token, 0), first, at(RSI, product.tileSum(token)));
        a.broadcast(VFMADD231PS, sum(token, 1), second, at(RSI, product.tileSum(token)));
      }
    }
  }

  /** Turns a chunk's whole numbers into float32 and adds them. */
  private void scale(int constants, Vec first, Vec second) {
    a.op(VMOVUPS, first, at(RDI, product.scales() + constants));
    a.op(VMOVUPS, second, at(RDI, product.scales() + constants + 64));
    for (int token = 0; token < count; token++) {
      for (int half = 0; half < 2; half++) {
        Vec scale = zmm(26 + (2 * token + half) % 4);
        a.broadcast(VMULPS, scale, half == 0 ? first : second, at(RSI, product.tileScale(token)));
        a.op(VCVTDQ2PS, chunkSum(token, half), chunkSum(token, half));
        a.op(VFMADD231PS, sum(token, half), scale, chunkSum(token, half));
      }
    }
  }

  private void floats() {
    Vec first = zmm(24);
    Vec second = zmm(25);
    Op op = product == Product.BF16 ? VDPBF16PS : VFMADD231PS;
    for (int step = 0; step < Product.STEPS; step++) {
      if (product == Product.F16) {
        a.op(VCVTPH2PS, first, at(RDI, 64 * step));
        a.op(VCVTPH2PS, second, at(RDI, 64 * step + 32));
      } else {
        a.op(VMOVUPS, first, at(RDI, 128 * step));
        a.op(VMOVUPS, second, at(RDI, 128 * step + 64));
      }
      for (int token = 0; token < count; token++) {
        Vec activation = zmm(26 + token % 4);
        a.op(VBROADCASTSS, activation, at(RSI, 32 * token + 4 * step));
        a.op(op, sum(token, 0), first, activation);
        a.op(op, sum(token, 1), second, activation);
      }
    }
  }

  private void store() {
    a.kmovd(K1, R9);
    a.shr(R9, 16);
    a.kmovd(K2, R9);
    a.shr(R9, 16);
    Label plain = new Label();
    a.test(R9, R9);
    a.jump(Condition.EQUAL, plain);
    eachToken(Optional.of(VADDPS));
    Label end = new Label();
    a.jmp(end);
    a.place(plain);
    eachToken(Optional.empty());
    a.place(end);
  }

  private void eachToken(Optional<Op> before) {
    for (int token = 0; token < count; token++) {
      Mem low = at(RDX);
      Mem high = at(RDX, 64);
      if (before.isPresent()) {
        a.zero(K1).op(before.get(), sum(token, 0), sum(token, 0), low);
        a.zero(K2).op(before.get(), sum(token, 1), sum(token, 1), high);
      }
      a.merge(K1).op(VMOVUPS_STORE, low, sum(token, 0));
      a.merge(K2).op(VMOVUPS_STORE, high, sum(token, 1));
      a.add(RDX, RCX);
    }
  }
}
