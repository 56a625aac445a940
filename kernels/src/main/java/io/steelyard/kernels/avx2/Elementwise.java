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
import static io.steelyard.kernels.assembler.Op.VADDSS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VDIVPS;
import static io.steelyard.kernels.assembler.Op.VDIVSS;
import static io.steelyard.kernels.assembler.Op.VFMADD213PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VFNMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMASKMOVPS;
import static io.steelyard.kernels.assembler.Op.VMASKMOVPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVSS;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTW;
import static io.steelyard.kernels.assembler.Op.VPCMPGTD;
import static io.steelyard.kernels.assembler.Op.VPERMILPS;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPMOVZXWD;
import static io.steelyard.kernels.assembler.Op.VPOR;
import static io.steelyard.kernels.assembler.Op.VPSLLD_IMM;
import static io.steelyard.kernels.assembler.Op.VPXOR;
import static io.steelyard.kernels.assembler.Op.VSQRTSS;
import static io.steelyard.kernels.assembler.Op.VSUBPS;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.Activation;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Op;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import java.util.List;
import java.util.function.Consumer;

/** Operators on a row of float32 values. */
final class Elementwise {
  private static final int LANES = 8;
  private static final int BYTES = 32;
  private static final Vec SOME = ymm(15);
  private static final Vec INDICES = ymm(14);

  private final Assembler a;

  /** Whether the step being written is the last, for fewer values than lanes. */
  private boolean last;

  private Elementwise(Assembler a) {
    this.a = a;
  }

  private static Function function(Consumer<Elementwise> body) {
    return Function.avx2(a -> body.accept(new Elementwise(a)));
  }

  /**
   * Writes a loop over 8 values at a time, and a step for what is left. Uses registers 14 and 15,
   * and RAX.
   *
   * @param count values, at least 0
   * @param moved pointers that each step moves on by 32 bytes
   */
  private void loop(Gpr count, List<Gpr> moved, Runnable step) {
    Label rest = new Label();
    Label end = new Label();
    a.sub(count, LANES);
    a.jump(Condition.LESS, rest);
    Label next = a.loop();
    step.run();
    for (Gpr pointer : moved) {
      a.add(pointer, BYTES);
    }
    a.sub(count, LANES);
    a.jump(Condition.NOT_LESS, next);
    a.place(rest);
    a.add(count, LANES);
    a.jump(Condition.EQUAL, end);
    select(SOME, count);
    last = true;
    step.run();
    last = false;
    a.place(end);
  }

  /** The first lanes of a register become all ones, as many as a count says. */
  private void select(Vec to, Gpr count) {
    Snippets.indices(a, INDICES, RAX);
    Snippets.broadcast(a, to, count);
    a.op(VPCMPGTD, to, to, INDICES);
  }

  private void load(Vec to, Mem from) {
    if (last) {
      a.op(VMASKMOVPS, to, SOME, from);
    } else {
      a.op(VMOVUPS, to, from);
    }
  }

  private void store(Mem to, Vec from) {
    if (last) {
      a.op(VMASKMOVPS_STORE, from, SOME, to);
    } else {
      a.op(VMOVUPS_STORE, to, from);
    }
  }

  /** Arguments: x, which receives the sum; what is added; values. */
  static Function add() {
    return pairwise(VADDPS);
  }

  /** Arguments: x, which receives the product; what it is multiplied by; values. */
  static Function multiply() {
    return pairwise(VMULPS);
  }

  private static Function pairwise(Op operation) {
    return function(
        e ->
            e.loop(
                RDX,
                List.of(RDI, RSI),
                () -> {
                  e.load(ymm(0), at(RDI));
                  e.load(ymm(1), at(RSI));
                  e.a.op(operation, ymm(0), ymm(0), ymm(1));
                  e.store(at(RDI), ymm(0));
                }));
  }

  /** Arguments: gate; up; out; values. */
  static Function gate(Activation activation) {
    return function(
        e ->
            e.writeActivated(
                activation,
                RCX,
                List.of(RDI, RSI, RDX),
                () -> {
                  e.load(ymm(1), at(RSI));
                  e.a.op(VMULPS, ymm(0), ymm(0), ymm(1));
                  e.store(at(RDX), ymm(0));
                }));
  }

  /** Arguments: x, which receives the result; values. */
  static Function activation(Activation activation) {
    return function(
        e -> e.writeActivated(activation, RSI, List.of(RDI), () -> e.store(at(RDI), ymm(0))));
  }

  /**
   * @param use takes what becomes of the values at RDI in register 0
   */
  private void writeActivated(Activation activation, Gpr count, List<Gpr> moved, Runnable use) {
    Snippets.constant(a, ymm(6), Activation.CUBE, RAX);
    Snippets.constant(a, ymm(7), -Activation.SLOPE, RAX);
    Exponential exponential = Exponential.begin(a, BYTES, RAX, 0);
    loop(
        count,
        moved,
        () -> {
          load(ymm(0), at(RDI));
          if (activation == Activation.SILU) {
            Snippets.clear(a, ymm(1));
            a.op(VSUBPS, ymm(1), ymm(1), ymm(0));
          } else {
            a.op(VMULPS, ymm(1), ymm(0), ymm(0));
            a.op(VFMADD213PS, ymm(1), ymm(6), exponential.one());
            a.op(VMULPS, ymm(1), ymm(1), ymm(0));
            a.op(VMULPS, ymm(1), ymm(1), ymm(7));
          }
          exponential.apply(ymm(1), ymm(2), ymm(3), ymm(4));
          a.op(VADDPS, ymm(1), ymm(1), exponential.one());
          a.op(VDIVPS, ymm(0), ymm(0), ymm(1));
          use.run();
        });
    exponential.end();
  }

  /** Arguments: x, which receives the result; values; the cap's bits; those of -2 / cap. */
  static Function softCap() {
    return function(Elementwise::writeSoftCap);
  }

  /** {@code tanh(x) = (1 - e) / (1 + e)} with {@code e = exp(-2·|x|)}, and the sign of x. */
  private void writeSoftCap() {
    Vec signs = ymm(8);
    Snippets.broadcast(a, ymm(6), RDX);
    Snippets.broadcast(a, ymm(7), RCX);
    Snippets.constant(a, signs, Integer.MIN_VALUE, RAX);
    Exponential exponential = Exponential.begin(a, BYTES, RAX, 0);
    loop(
        RSI,
        List.of(RDI),
        () -> {
          load(ymm(0), at(RDI));
          a.op(VPAND, ymm(5), ymm(0), signs);
          a.op(VPXOR, ymm(0), ymm(0), ymm(5));
          a.op(VMULPS, ymm(0), ymm(0), ymm(7));
          exponential.apply(ymm(0), ymm(2), ymm(3), ymm(4));
          a.op(VMOVUPS, ymm(1), exponential.one());
          a.op(VSUBPS, ymm(2), ymm(1), ymm(0));
          a.op(VADDPS, ymm(0), ymm(0), ymm(1));
          a.op(VDIVPS, ymm(0), ymm(2), ymm(0));
          a.op(VMULPS, ymm(0), ymm(0), ymm(6));
          a.op(VPOR, ymm(0), ymm(0), ymm(5));
          store(at(RDI), ymm(0));
        });
    exponential.end();
  }

  /** Arguments: x; weight; y; values; the bits of epsilon; the bits of the number of values. */
  static Function rmsNorm() {
    return function(Elementwise::writeRmsNorm);
  }

  private void writeRmsNorm() {
    sum(() -> a.op(VFMADD231PS, ymm(0), ymm(1), ymm(1)));
    writeNormed(() -> {});
  }

  /** Arguments as for {@link #rmsNorm}. */
  static Function layerNorm() {
    return function(Elementwise::writeLayerNorm);
  }

  private void writeLayerNorm() {
    Vec mean = ymm(3);
    sum(() -> a.op(VADDPS, ymm(0), ymm(0), ymm(1)));
    Snippets.spread(a, mean, ymm(0));
    sum(
        () -> {
          a.op(VSUBPS, ymm(1), ymm(1), mean);
          if (last) {
            a.op(VPAND, ymm(1), ymm(1), SOME);
          }
          a.op(VFMADD231PS, ymm(0), ymm(1), ymm(1));
        });
    writeNormed(() -> a.op(VSUBPS, ymm(1), ymm(1), mean));
  }

  /**
   * The mean over all values becomes the lowest lane of register 0.
   *
   * @param step adds what the values in register 1 give to register 0
   */
  private void sum(Runnable step) {
    a.mov(R10, RDI);
    a.mov(R11, RCX);
    Snippets.clear(a, ymm(0));
    loop(
        R11,
        List.of(R10),
        () -> {
          load(ymm(1), at(R10));
          step.run();
        });
    Snippets.reduce(a, VADDPS, ymm(0), ymm(1));
    a.vmovd(xmm(1), R9);
    a.op(VDIVSS, xmm(0), xmm(0), xmm(1));
  }

  /**
   * Divides by the root of the mean square in register 0.
   *
   * @param centre changes the values in register 1 before
   */
  private void writeNormed(Runnable centre) {
    a.vmovd(xmm(1), R8);
    a.op(VADDSS, xmm(0), xmm(0), xmm(1));
    a.op(VSQRTSS, xmm(0), xmm(0), xmm(0));
    Snippets.constant(a, ymm(1), 1f, RAX);
    a.op(VDIVSS, xmm(0), xmm(1), xmm(0));
    Snippets.spread(a, ymm(0), ymm(0));
    loop(
        RCX,
        List.of(RDI, RSI, RDX),
        () -> {
          load(ymm(1), at(RDI));
          load(ymm(2), at(RSI));
          centre.run();
          a.op(VMULPS, ymm(1), ymm(1), ymm(0));
          a.op(VMULPS, ymm(1), ymm(1), ymm(2));
          store(at(RDX), ymm(1));
        });
  }

  /** {@code y = x · factor}. Arguments: x; y; values; the factor's bits. */
  static Function scale() {
    return scaled(false);
  }

  /** {@code y += x · factor}. Arguments: x; y; values; the factor's bits. */
  static Function addScaled() {
    return scaled(true);
  }

  private static Function scaled(boolean added) {
    return function(
        e -> {
          Snippets.broadcast(e.a, ymm(0), RCX);
          e.loop(
              RDX,
              List.of(RDI, RSI),
              () -> {
                e.load(ymm(1), at(RDI));
                if (added) {
                  e.load(ymm(2), at(RSI));
                  e.a.op(VFMADD213PS, ymm(1), ymm(0), ymm(2));
                } else {
                  e.a.op(VMULPS, ymm(1), ymm(1), ymm(0));
                }
                e.store(at(RSI), ymm(1));
              });
        });
  }

  /** Arguments: values of a type without blocks; where float32 values go; how many. */
  static Function widen(DataType type) {
    return Function.avx2(
        a -> {
          Label rest = new Label();
          Label end = new Label();
          if (EightBitFloats.has(type)) {
            EightBitFloats.constants(a);
          }
          a.sub(RDX, LANES);
          a.jump(Condition.LESS, rest);
          Label next = a.loop();
          eightValues(a, type, ymm(0), at(RDI));
          a.op(VMOVUPS_STORE, at(RSI), ymm(0));
          a.add(RDI, LANES * type.blockBytes());
          a.add(RSI, BYTES);
          a.sub(RDX, LANES);
          a.jump(Condition.NOT_LESS, next);
          a.place(rest);
          a.add(RDX, LANES);
          a.jump(Condition.EQUAL, end);
          Label one = a.loop();
          value(a, type, ymm(0), at(RDI));
          a.op(VMOVSS_STORE, at(RSI), xmm(0));
          a.add(RDI, type.blockBytes());
          a.add(RSI, Float.BYTES);
          a.sub(RDX, 1);
          a.jump(Condition.NOT_EQUAL, one);
          a.place(end);
        });
  }

  /** Arguments: blocks of {@link FloatLevels}; where float32 values go; how many values. */
  static Function widenLevels(DataType type) {
    return Function.avx2(
        a -> {
          Vec scale = ymm(0);
          FloatLevels.constants(a, type);
          Label block = a.loop();
          a.op(VBROADCASTSS, scale, at(RDI));
          for (int first = 0; first < type.blockSize(); first += FloatLevels.STEP) {
            int from = first;
            FloatLevels.step(
                a,
                at(RDI, Float.BYTES + first / 2),
                eight -> {
                  a.op(VMULPS, ymm(1), FloatLevels.VALUES, scale);
                  a.op(VMOVUPS_STORE, at(RSI, (from + eight) * Float.BYTES), ymm(1));
                });
          }
          a.add(RDI, type.blockBytes());
          a.add(RSI, type.blockSize() * Float.BYTES);
          a.sub(RDX, type.blockSize());
          a.jump(Condition.NOT_EQUAL, block);
        });
  }

  /** Loads eight values of a type without blocks as float32. */
  static void eightValues(Assembler a, DataType type, Vec to, Mem from) {
    switch (type) {
      case F32 -> a.op(VMOVUPS, to, from);
      case F16 -> a.op(VCVTPH2PS, to, from);
      case BF16 -> {
        a.op(VPMOVZXWD, to, from);
        a.op(VPSLLD_IMM, to, to, 16);
      }
      case FP8_E4M3, FP8_E5M2 -> EightBitFloats.load(a, type, to, from);
      default -> throw MachineCode.unsupported(type);
    }
  }

  /** Loads one value of a type without blocks as float32, and nothing beyond it. */
  static void value(Assembler a, DataType type, Vec to, Mem from) {
    switch (type) {
      case F32 -> a.op(VMOVSS, to.as(16), from);
      case F16 -> {
        a.op(VPBROADCASTW, to.as(16), from);
        a.op(VCVTPH2PS, to, to.as(16));
      }
      case BF16 -> {
        a.op(VPBROADCASTW, to, from);
        a.op(VPSLLD_IMM, to, to, 16);
      }
      case FP8_E4M3, FP8_E5M2 -> EightBitFloats.one(a, type, to, from);
      default -> throw MachineCode.unsupported(type);
    }
  }

  /**
   * Turns pairs that lie side by side. Arguments: the first head; cosines, then sines of all pairs;
   * heads; bytes from one head to the next; pairs.
   */
  static Function ropeInterleaved() {
    return function(Elementwise::writeRopeInterleaved);
  }

  private void writeRopeInterleaved() {
    Vec twice = ymm(10);
    Vec negated = ymm(11);
    Vec somePairs = ymm(12);
    Snippets.bytes(a, twice, 0x0303_0202_0101_0000L, 0, RAX);
    // The first of a pair takes the sine negated.
    Snippets.bytes(a, negated, 0x0080_0080_0080_0080L, 0, RAX);
    a.op(VPSLLD_IMM, negated, negated, 24);
    a.lea(R9, at(RSI, R8, 4));
    a.add(R8, R8);
    loop(
        R8,
        List.of(RDI),
        () -> {
          // A lane for each value; angles are half as many.
          if (last) {
            a.shr(R8, 1);
            select(somePairs, R8);
            a.op(VMASKMOVPS, xmm(0), somePairs.as(16), at(RSI));
            a.op(VMASKMOVPS, xmm(1), somePairs.as(16), at(R9));
          } else {
            a.op(VMOVUPS, xmm(0), at(RSI));
            a.op(VMOVUPS, xmm(1), at(R9));
          }
          a.op(VPERMPS, ymm(0), twice, ymm(0));
          a.op(VPERMPS, ymm(1), twice, ymm(1));
          a.op(VPXOR, ymm(1), ymm(1), negated);
          heads(
              () -> {
                load(ymm(2), at(R10));
                a.op(VPERMILPS, ymm(3), ymm(2), 0xB1);
                a.op(VMULPS, ymm(2), ymm(2), ymm(0));
                a.op(VFMADD231PS, ymm(2), ymm(3), ymm(1));
                store(at(R10), ymm(2));
              });
          a.add(RSI, BYTES / 2);
          a.add(R9, BYTES / 2);
        });
  }

  /** Turns pairs half the turned values apart; arguments as for {@link #ropeInterleaved}. */
  static Function ropeSplit() {
    return function(Elementwise::writeRopeSplit);
  }

  private void writeRopeSplit() {
    a.lea(R9, at(RSI, R8, 4));
    // Both the sines and the second of a pair lie so many bytes behind.
    a.push(RBX);
    a.mov(RBX, R8);
    a.shl(RBX, 2);
    loop(
        R8,
        List.of(RDI, RSI, R9),
        () -> {
          load(ymm(0), at(RSI));
          load(ymm(1), at(R9));
          heads(
              () -> {
                load(ymm(2), at(R10));
                load(ymm(3), at(R10, RBX, 1));
                a.op(VMULPS, ymm(4), ymm(2), ymm(0));
                a.op(VFNMADD231PS, ymm(4), ymm(3), ymm(1));
                a.op(VMULPS, ymm(5), ymm(2), ymm(1));
                a.op(VFMADD231PS, ymm(5), ymm(3), ymm(0));
                store(at(R10), ymm(4));
                store(at(R10, RBX, 1), ymm(5));
              });
        });
    a.pop(RBX);
  }

  /** A loop over heads, with R10 at each head's values. */
  private void heads(Runnable head) {
    a.mov(R10, RDI);
    a.mov(R11, RDX);
    Label next = a.loop();
    head.run();
    a.add(R10, RCX);
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, next);
  }
}
