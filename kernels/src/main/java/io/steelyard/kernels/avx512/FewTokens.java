package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R12;
import static io.steelyard.kernels.assembler.Gpr.R13;
import static io.steelyard.kernels.assembler.Gpr.R14;
import static io.steelyard.kernels.assembler.Gpr.R15;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Gpr.RBX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Gpr.RSP;
import static io.steelyard.kernels.assembler.Mask.K4;
import static io.steelyard.kernels.assembler.Mask.K5;
import static io.steelyard.kernels.assembler.Mask.K6;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VPERMILPS;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPEXTRD_STORE;
import static io.steelyard.kernels.assembler.Op.VSHUFF32X4;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mask;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.Snippets;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Products of rows as they lie in the file with one to four tokens: what decoding does. Activations
 * have 8 bits, like the weights.
 *
 * <p>Four rows are multiplied at a time, so that what is made of the activations serves four rows;
 * a register holds 64 weights of one row, unsigned. What they are too large by is taken off with
 * the activations' sums. A token's sums take the same steps however many tokens there are.
 *
 * <p>Arguments of its functions: the first row; bytes from one row to the next; activations; bytes
 * from one token's activations to the next; where the first token's products go; the address of
 * seven longs: blocks of a row (for types without blocks, values); groups of four rows; bytes from
 * one token's products to the next; bytes from one product of a group to the next; bytes from a
 * token's activations to the scales of its blocks; bytes from one group's first row to the next's,
 * whose products lie next to each other; and bytes from a token's activations to their sums. So a
 * group's rows can be far apart, and each be the beginning of a long stream.
 */
final class FewTokens {
  /** The most tokens of one call. */
  static final int TOKENS = 4;

  /** Rows of a group. */
  static final int ROWS = 4;

  /** What differs by type. Its constants are made before {@link #group}. */
  interface Body {
    /** Adds a group's products to {@link #sum}. All registers from 16 on are free. */
    void group();

    /**
     * Adds what is summed apart.
     *
     * @param sums a token's, a quarter of the lanes for each row, to be summed
     */
    default void complete(Vec sums, int token) {}
  }

  /** Registers of the bodies and of this class. */
  static final Vec PRODUCT = zmm(29);

  static final Vec SCRATCH = zmm(30);

  // The stack: registers for each token and row, for each token, and for any use; then constants of
  // 64 bytes, then two longs.
  private static final int OFFSETS = 64 * TOKENS * ROWS;
  private static final int WORK = OFFSETS + 64 * TOKENS;
  private static final int CONSTANTS = WORK + 64 * 2;
  private static final int MOST_CONSTANTS = 20;
  private static final int GROUPS = CONSTANTS + 64 * MOST_CONSTANTS;
  private static final int STACK_POINTER = GROUPS + 8;
  private static final int STACK = GROUPS + 64;

  /** Registers up to here are of sums, then of constants. */
  private static final int HELD = 16;

  /**
   * How far ahead rows are asked for, in bytes: about what memory gives in the time that it takes
   * to answer. Into the second-level cache, since the first level's few open requests are what
   * bounds a core's reading on Intel's processors.
   */
  private static final int AHEAD = 4096;

  private static final int LINE = 64;

  /** Lanes of the second row's quarter; the others are next to it. */
  private static final long QUARTER = 0x00F0_00F0;

  private static final Mask[] QUARTERS = {K4, K5, K6};

  private final Assembler a;
  private final int tokens;
  private int constants;

  private FewTokens(Assembler a, int tokens) {
    this.a = a;
    this.tokens = tokens;
  }

  static Function of(DataType type, int tokens) {
    return Function.of(a -> new FewTokens(a, tokens).write(type));
  }

  // Registers: RDI rows, RSI bytes of a row, R10 three times that; RDX activations, RCX bytes of a
  // token's, R11 three times that; R8 products; R9 the longs; R12 the block in the first row, RBX
  // the block's activations, R13 their scales, R15 their sums, RBP counts blocks. RAX and R14 are
  // free in a group; K1 to K3 and K7 are the bodies'.

  private void write(DataType type) {
    Gpr[] kept = {RBX, RBP, R12, R13, R14, R15};
    for (Gpr register : kept) {
      a.push(register);
    }
    a.mov(RAX, RSP);
    a.sub(RSP, STACK);
    a.and(RSP, -64);
    a.mov(at(RSP, STACK_POINTER), RAX);
    a.lea(R10, at(RSI, RSI, 2));
    a.lea(R11, at(RCX, RCX, 2));
    for (int i = 0; i < QUARTERS.length; i++) {
      a.mov(RAX, QUARTER << (4 * i));
      a.kmovd(QUARTERS[i], RAX);
    }
    Body body =
        switch (type) {
          case F32, F16, BF16, FP8_E4M3, FP8_E5M2 -> new FewFloats(a, this, type);
          case NF4, FP4 -> new FewFloatLevels(a, this, type);
          case Q8_0 -> new FewBytes(a, this);
          case Q4_0, Q4_1, IQ4_NL -> new FewHalves(a, this, type);
          case Q5_0, Q5_1 -> new FewFives(a, this, type);
          case MXFP4 -> new FewMicroscaled(a, this);
          case IQ4_XS -> new FewExtraSmall(a, this);
          case Q4_K, Q5_K -> new FewFourOrFiveBits(a, this, type);
          case Q6_K -> new FewSixBits(a, this);
          default -> throw MachineCode.unsupported(type);
        };
    for (int i = 0; i < constants; i++) {
      if (holds(i)) {
        a.op(VMOVUPS, holder(i), at(RSP, CONSTANTS + 64 * i));
      }
    }
    Mem fourths = words(0x0C08_0400L, 0);
    a.mov(RAX, at(R9, 8));
    a.mov(at(RSP, GROUPS), RAX);
    Label group = a.loop();
    a.mov(R12, RDI);
    a.mov(RBX, RDX);
    a.mov(R13, RDX);
    a.add(R13, at(R9, 32));
    a.mov(R15, RDX);
    a.add(R15, at(R9, 48));
    a.mov(RBP, at(R9));
    for (int i = 0; i < ROWS * tokens; i++) {
      Snippets.clear(a, zmm(i));
    }
    body.group();
    store(body, fourths);
    a.add(RDI, at(R9, 40));
    a.add(R8, Float.BYTES);
    a.mov(RAX, at(RSP, GROUPS));
    a.sub(RAX, 1);
    a.mov(at(RSP, GROUPS), RAX);
    a.jump(Condition.NOT_EQUAL, group);
    a.mov(RSP, at(RSP, STACK_POINTER));
    for (int i = kept.length - 1; i >= 0; i--) {
      a.pop(kept[i]);
    }
  }

  int tokens() {
    return tokens;
  }

  Vec sum(int token, int row) {
    return zmm(ROWS * token + row);
  }

  Mem row(int row, int offset) {
    return switch (row) {
      case 0 -> at(R12, offset);
      case 1 -> at(R12, RSI, 1, offset);
      case 2 -> at(R12, RSI, 2, offset);
      default -> at(R12, R10, 1, offset);
    };
  }

  private Mem ofToken(Gpr first, int token, int offset) {
    return switch (token) {
      case 0 -> at(first, offset);
      case 1 -> at(first, RCX, 1, offset);
      case 2 -> at(first, RCX, 2, offset);
      default -> at(first, R11, 1, offset);
    };
  }

  Mem activations(int token, int offset) {
    return ofToken(RBX, token, offset);
  }

  Mem scales(int token) {
    return ofToken(R13, token, 0);
  }

  /** Two sums a block. */
  Mem sums(int token) {
    return ofToken(R15, token, 0);
  }

  /** A place of 64 bytes for each token and row. */
  Mem scaled(int token, int row) {
    return at(RSP, 64 * (ROWS * token + row));
  }

  /** A quarter of a token's first place, for a row. */
  Mem scaledQuarter(int token, int row) {
    return at(RSP, 64 * ROWS * token + 16 * row);
  }

  /** A place of 64 bytes for each token. */
  Mem offsets(int token) {
    return at(RSP, OFFSETS + 64 * token);
  }

  /** 128 bytes for any use. */
  Mem work(int offset) {
    return at(RSP, WORK + offset);
  }

  /**
   * A row's quarter of 16 lanes, or of either half of 32 2-byte ones: the next operation's result
   * goes there alone. The first row's goes everywhere.
   */
  Assembler quarter(int row) {
    return row == 0 ? a : a.merge(QUARTERS[row - 1]);
  }

  /** Asks for every line of what a step behind this one reads of every row. */
  void prefetch(int bytes) {
    for (int row = 0; row < ROWS; row++) {
      for (int at = 0; at < bytes; at += LINE) {
        a.prefetcht1(row(row, AHEAD + at));
      }
    }
  }

  /** Goes on by a step. */
  void advance(int rowBytes, int blocks) {
    a.add(R12, rowBytes);
    a.add(RBX, blocks * FewActivations.BLOCK);
    a.add(R13, blocks * Float.BYTES);
    a.add(R15, blocks * 2 * Float.BYTES);
  }

  // ---- Constants, on the stack, and in the registers that sums leave.

  private Mem constant() {
    if (constants == MOST_CONSTANTS) {
      throw new IllegalStateException("the stack has room for no more constants");
    }
    return at(RSP, CONSTANTS + 64 * constants++);
  }

  private boolean holds(int constant) {
    return ROWS * tokens + constant < HELD;
  }

  private Vec holder(int constant) {
    return zmm(ROWS * tokens + constant);
  }

  /**
   * A constant in a register.
   *
   * @param other takes it where no register holds it
   */
  Vec held(Mem constant, Vec other) {
    int number = (constant.displacement() - CONSTANTS) / 64;
    if (holds(number)) {
      return holder(number);
    }
    a.op(VMOVUPS, other, constant);
    return other;
  }

  /** A constant of 16 words of 32 bits, given as bytes, the lowest first. */
  Mem words(long low, long high) {
    Mem place = constant();
    Snippets.bytes(a, SCRATCH, low, high, RAX);
    a.op(VMOVUPS_STORE, place, SCRATCH);
    return place;
  }

  /** 64 bytes: eight longs, or the same two again and again. */
  Mem longs(long... values) {
    Mem place = constant();
    for (int i = 0; i < 8; i++) {
      a.mov(RAX, values[i % values.length]);
      a.mov(at(RSP, place.displacement() + 8 * i), RAX);
    }
    return place;
  }

  /** 16 numbers of 32 bits, each a function of its place. */
  Mem lanes(IntUnaryOperator number) {
    return longs(
        IntStream.range(0, 8)
            .mapToLong(
                i ->
                    Integer.toUnsignedLong(number.applyAsInt(2 * i))
                        | (long) number.applyAsInt(2 * i + 1) << Integer.SIZE)
            .toArray());
  }

  Mem bytesOf(int value) {
    return longs(value * 0x0101_0101_0101_0101L);
  }

  Mem floatsOf(float value) {
    return longs(Float.floatToRawIntBits(value) * 0x1_0000_0001L);
  }

  // ---- The end of a group.

  private void store(Body body, Mem fourths) {
    Vec sums = zmm(20);
    a.mov(RAX, R8);
    a.mov(R14, at(R9, 24));
    a.lea(R15, at(R14, R14, 2));
    a.op(VMOVUPS, zmm(28), fourths);
    for (int token = 0; token < tokens; token++) {
      fold(sums, sum(token, 0), sum(token, 1));
      fold(zmm(21), sum(token, 2), sum(token, 3));
      fold(sums, sums, zmm(21));
      body.complete(sums, token);
      for (int order : new int[] {0x4E, 0xB1}) {
        a.op(VPERMILPS, zmm(22), sums, order);
        a.op(VADDPS, sums, sums, zmm(22));
      }
      a.op(VPERMPS, sums, zmm(28), sums);
      a.op(VPEXTRD_STORE, at(RAX), sums.as(16), 0);
      a.op(VPEXTRD_STORE, at(RAX, R14, 1), sums.as(16), 1);
      a.op(VPEXTRD_STORE, at(RAX, R14, 2), sums.as(16), 2);
      a.op(VPEXTRD_STORE, at(RAX, R15, 1), sums.as(16), 3);
      a.add(RAX, at(R9, 16));
    }
  }

  /** Adds neighbouring quarters: those of x, then those of y. */
  private void fold(Vec to, Vec x, Vec y) {
    a.op(VSHUFF32X4, zmm(26), x, y, 0x88);
    a.op(VSHUFF32X4, zmm(27), x, y, 0xDD);
    a.op(VADDPS, to, zmm(26), zmm(27));
  }
}
