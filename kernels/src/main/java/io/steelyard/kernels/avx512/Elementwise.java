package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mask.K1;
import static io.steelyard.kernels.assembler.Mask.K2;
import static io.steelyard.kernels.assembler.Mask.K3;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VADDSS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VDIVPS;
import static io.steelyard.kernels.assembler.Op.VDIVSS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VFNMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPERMILPS;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPXORD;
import static io.steelyard.kernels.assembler.Op.VSQRTSS;
import static io.steelyard.kernels.assembler.Op.VSUBPS;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.ymm;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.machine.Function;
import java.util.List;

/** Operators on a row of float32 values. */
final class Elementwise {
  private Elementwise() {}

  /** Writes a step for 16 lanes, of which K1 selects those that count. */
  @FunctionalInterface
  private interface Step {
    void write(Assembler a);
  }

  /**
   * Writes a loop over 16 values at a time, at least one; the last step selects what is left. Uses
   * RAX.
   *
   * @param count values
   * @param moved pointers that each step moves on by 64 bytes
   */
  private static void loop(Assembler a, Gpr count, List<Gpr> moved, Step step) {
    Label end = new Label();
    a.mov(RAX, 0xFFFF);
    a.kmovd(K1, RAX);
    Label next = a.loop();
    Label whole = new Label();
    a.cmp(count, 16);
    a.jump(Condition.NOT_LESS, whole);
    a.test(count, count);
    a.jump(Condition.EQUAL, end);
    Snippets.first(a, K1, count, RAX);
    a.place(whole);
    step.write(a);
    for (Gpr pointer : moved) {
      a.add(pointer, 64);
    }
    a.sub(count, 16);
    a.jump(Condition.GREATER, next);
    a.place(end);
  }

  /** Arguments: x, which receives the sum; what is added; values. */
  static Function add() {
    return Function.of(
        a ->
            loop(
                a,
                RDX,
                List.of(RDI, RSI),
                step -> {
                  step.zero(K1).op(VMOVUPS, zmm(0), at(RDI));
                  step.zero(K1).op(VADDPS, zmm(0), zmm(0), at(RSI));
                  step.merge(K1).op(VMOVUPS_STORE, at(RDI), zmm(0));
                }));
  }

  /** Arguments: gate; up; out; values. */
  static Function siluGate() {
    return Function.of(
        a -> {
          Exponential.constants(a, RAX);
          loop(
              a,
              RCX,
              List.of(RDI, RSI, RDX),
              step -> {
                step.zero(K1).op(VMOVUPS, zmm(0), at(RDI));
                step.op(VPXORD, zmm(1), zmm(1), zmm(1));
                step.op(VSUBPS, zmm(1), zmm(1), zmm(0));
                Exponential.apply(step, zmm(1), zmm(2), zmm(3));
                step.op(VADDPS, zmm(1), zmm(1), zmm(31));
                step.op(VDIVPS, zmm(0), zmm(0), zmm(1));
                step.zero(K1).op(VMULPS, zmm(0), zmm(0), at(RSI));
                step.merge(K1).op(VMOVUPS_STORE, at(RDX), zmm(0));
              });
        });
  }

  /** Arguments: x; weight; y; values; the bits of epsilon; the bits of the number of values. */
  static Function rmsNorm() {
    return Function.of(
        a -> {
          a.mov(R10, RDI);
          a.mov(R11, RCX);
          a.op(VPXORD, zmm(0), zmm(0), zmm(0));
          loop(
              a,
              R11,
              List.of(R10),
              step -> {
                step.zero(K1).op(VMOVUPS, zmm(1), at(R10));
                step.op(VFMADD231PS, zmm(0), zmm(1), zmm(1));
              });
          Snippets.reduce(a, VADDPS, zmm(0), zmm(1));
          a.vmovd(xmm(1), R9);
          a.op(VDIVSS, xmm(0), xmm(0), xmm(1));
          a.vmovd(xmm(1), R8);
          a.op(VADDSS, xmm(0), xmm(0), xmm(1));
          a.op(VSQRTSS, xmm(0), xmm(0), xmm(0));
          Snippets.constant(a, zmm(1), 1f, RAX);
          a.op(VDIVSS, xmm(0), xmm(1), xmm(0));
          Snippets.spread(a, zmm(0), zmm(0));
          loop(
              a,
              RCX,
              List.of(RDI, RSI, RDX),
              step -> {
                step.zero(K1).op(VMULPS, zmm(1), zmm(0), at(RDI));
                step.zero(K1).op(VMULPS, zmm(1), zmm(1), at(RSI));
                step.merge(K1).op(VMOVUPS_STORE, at(RDX), zmm(1));
              });
        });
  }

  /** {@code y = x · factor}. Arguments: x; y; values; the factor's bits. */
  static Function scale() {
    return Function.of(
        a -> {
          a.vpbroadcastd(zmm(0), RCX);
          loop(
              a,
              RDX,
              List.of(RDI, RSI),
              step -> {
                step.zero(K1).op(VMULPS, zmm(1), zmm(0), at(RDI));
                step.merge(K1).op(VMOVUPS_STORE, at(RSI), zmm(1));
              });
        });
  }

  /** {@code y += x · factor}. Arguments: x; y; values; the factor's bits. */
  static Function addScaled() {
    return Function.of(
        a -> {
          a.vpbroadcastd(zmm(0), RCX);
          loop(
              a,
              RDX,
              List.of(RDI, RSI),
              step -> {
                step.zero(K1).op(VMOVUPS, zmm(1), at(RSI));
                step.zero(K1).op(VFMADD231PS, zmm(1), zmm(0), at(RDI));
                step.merge(K1).op(VMOVUPS_STORE, at(RSI), zmm(1));
              });
        });
  }

  /** Arguments: float16 values; where float32 values go; how many. */
  static Function fromHalf() {
    return Function.of(
        a -> {
          a.mov(R8, RDI);
          loop(
              a,
              RDX,
              List.of(RSI),
              step -> {
                step.zero(K1).op(VCVTPH2PS, zmm(0), at(R8));
                step.merge(K1).op(VMOVUPS_STORE, at(RSI), zmm(0));
                step.add(R8, 32);
              });
        });
  }

  /**
   * Turns pairs that lie side by side. Arguments: the first head; cosines, then sines of all pairs;
   * heads; bytes from one head to the next; pairs.
   */
  static Function ropeInterleaved() {
    return Function.of(
        a -> {
          Snippets.bytes(a, zmm(10), 0x0303_0202_0101_0000L, 0x0707_0606_0505_0404L, RAX);
          // The first of a pair takes the sine negated.
          Snippets.constant(a, zmm(11), 0x8000_0000, RAX);
          a.mov(RAX, 0x5555);
          a.kmovd(K2, RAX);
          a.zero(K2).op(VMOVUPS, zmm(11), zmm(11));
          a.lea(R9, at(RSI, R8, 4));
          a.add(R8, R8);
          loop(
              a,
              R8,
              List.of(RDI),
              step -> {
                // A lane for each value; angles are half as many.
                Label whole = new Label();
                a.mov(RAX, 0xFF);
                a.kmovd(K3, RAX);
                a.cmp(R8, 16);
                a.jump(Condition.NOT_LESS, whole);
                a.mov(RAX, R8);
                a.shr(RAX, 1);
                Snippets.first(a, K3, RAX, R11);
                a.place(whole);
                a.zero(K3).op(VMOVUPS, ymm(0), at(RSI));
                a.zero(K3).op(VMOVUPS, ymm(1), at(R9));
                a.op(VPERMPS, zmm(0), zmm(10), zmm(0));
                a.op(VPERMPS, zmm(1), zmm(10), zmm(1));
                a.op(VPXORD, zmm(1), zmm(1), zmm(11));
                heads(
                    a,
                    () -> {
                      a.zero(K1).op(VMOVUPS, zmm(2), at(R10));
                      a.op(VPERMILPS, zmm(3), zmm(2), 0xB1);
                      a.op(VMULPS, zmm(2), zmm(2), zmm(0));
                      a.op(VFMADD231PS, zmm(2), zmm(3), zmm(1));
                      a.merge(K1).op(VMOVUPS_STORE, at(R10), zmm(2));
                    });
                a.add(RSI, 32);
                a.add(R9, 32);
              });
        });
  }

  /** Turns pairs half the turned values apart; arguments as for {@link #ropeInterleaved}. */
  static Function ropeSplit() {
    return Function.of(
        a -> {
          a.lea(R9, at(RSI, R8, 4));
          // Both the sines and the second of a pair lie so many bytes behind.
          a.push(Gpr.RBX);
          a.mov(Gpr.RBX, R8);
          a.shl(Gpr.RBX, 2);
          loop(
              a,
              R8,
              List.of(RDI, RSI, R9),
              step -> {
                a.zero(K1).op(VMOVUPS, zmm(0), at(RSI));
                a.zero(K1).op(VMOVUPS, zmm(1), at(R9));
                heads(
                    a,
                    () -> {
                      a.zero(K1).op(VMOVUPS, zmm(2), at(R10));
                      a.zero(K1).op(VMOVUPS, zmm(3), at(R10, Gpr.RBX, 1));
                      a.op(VMULPS, zmm(4), zmm(2), zmm(0));
                      a.op(VFNMADD231PS, zmm(4), zmm(3), zmm(1));
                      a.op(VMULPS, zmm(5), zmm(2), zmm(1));
                      a.op(VFMADD231PS, zmm(5), zmm(3), zmm(0));
                      a.merge(K1).op(VMOVUPS_STORE, at(R10), zmm(4));
                      a.merge(K1).op(VMOVUPS_STORE, at(R10, Gpr.RBX, 1), zmm(5));
                    });
              });
          a.pop(Gpr.RBX);
        });
  }

  /** A loop over heads, with R10 at each head's values. */
  private static void heads(Assembler a, Runnable head) {
    a.mov(R10, RDI);
    a.mov(R11, RDX);
    Label next = a.loop();
    head.run();
    a.add(R10, RCX);
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, next);
  }
}
