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
import static io.steelyard.kernels.assembler.Mask.K1;
import static io.steelyard.kernels.assembler.Mask.K2;
import static io.steelyard.kernels.assembler.Mask.K3;
import static io.steelyard.kernels.assembler.Mask.K4;
import static io.steelyard.kernels.assembler.Mask.K5;
import static io.steelyard.kernels.assembler.Mask.K6;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTI32X4;
import static io.steelyard.kernels.assembler.Op.VBROADCASTI64X4;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD213PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VFNMADD231PS;
import static io.steelyard.kernels.assembler.Op.VINSERTI64X4;
import static io.steelyard.kernels.assembler.Op.VMOVDQU16;
import static io.steelyard.kernels.assembler.Op.VMOVDQU32;
import static io.steelyard.kernels.assembler.Op.VMOVDQU32_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPANDD;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTW;
import static io.steelyard.kernels.assembler.Op.VPDPBUSD;
import static io.steelyard.kernels.assembler.Op.VPERMILPS;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPERMW;
import static io.steelyard.kernels.assembler.Op.VPEXTRD_STORE;
import static io.steelyard.kernels.assembler.Op.VPMOVSXBD;
import static io.steelyard.kernels.assembler.Op.VPMOVZXBD;
import static io.steelyard.kernels.assembler.Op.VPMOVZXWD;
import static io.steelyard.kernels.assembler.Op.VPSHUFB;
import static io.steelyard.kernels.assembler.Op.VPSLLD_IMM;
import static io.steelyard.kernels.assembler.Op.VPSLLVW;
import static io.steelyard.kernels.assembler.Op.VPSRLVD;
import static io.steelyard.kernels.assembler.Op.VPSRLVW;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPTERNLOGD;
import static io.steelyard.kernels.assembler.Op.VPXORD;
import static io.steelyard.kernels.assembler.Op.VSHUFF32X4;
import static io.steelyard.kernels.assembler.Op.VSHUFI32X4;
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

/**
 * Products of rows as they lie in the file with one to four tokens: what decoding does. Bound by
 * memory, so there is time to be exact: activations have 16 bits to the weights' 8, as a high and a
 * low byte.
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

  // The stack: for each row 64 bytes of scales, then constants of 64 bytes, then two longs.
  private static final int CONSTANTS = 64 * ROWS;
  private static final int MOST_CONSTANTS = 20;
  private static final int GROUPS = CONSTANTS + 64 * MOST_CONSTANTS;
  private static final int STACK_POINTER = GROUPS + 8;
  private static final int STACK = GROUPS + 64;

  /**
   * How far ahead rows are asked for, in bytes: about what memory gives in the time that it takes
   * to answer. Into the second-level cache, since the first level's few open requests are what
   * bounds a core's reading on Intel's processors.
   */
  private static final int AHEAD = 4096;

  private static final int LINE = 64;

  private static final Vec PRODUCT = zmm(29);
  private static final Vec SCRATCH = zmm(30);

  private static final int UPPER_HALF = 0xFF00;

  /** Of three bits a, b and c: a or (b and c). */
  private static final int OR_OF_AND = 0xF8;

  /** Lanes of the second, third and fourth of four rows or blocks. */
  private static final Mask[] QUARTERS = {K4, K5, K6};

  private final Assembler a;
  private final DataType type;
  private final int tokens;
  private int constants;

  private FewTokens(Assembler a, DataType type, int tokens) {
    this.a = a;
    this.type = type;
    this.tokens = tokens;
  }

  static Function of(DataType type, int tokens) {
    return Function.of(a -> new FewTokens(a, type, tokens).write());
  }

  // Registers: RDI rows, RSI bytes of a row, R10 three times that; RDX activations, RCX bytes of a
  // token's, R11 three times that; R8 products; R9 the longs; R12 the block in the first row, RBX
  // the block's activations, R13 their scales, R15 their sums, RBP counts blocks.

  private void write() {
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
    a.mov(RAX, UPPER_HALF);
    a.kmovd(K1, RAX);
    for (int i = 0; i < QUARTERS.length; i++) {
      a.mov(RAX, 0xF0L << (4 * i));
      a.kmovd(QUARTERS[i], RAX);
    }
    Mem fourths = words(0x0C08_0400L, 0);
    Runnable row =
        switch (type) {
          case F32, F16, BF16 -> this::floats;
          case Q8_0 -> bytes();
          case Q4_0, Q4_1 -> nibbles();
          case Q4_K, Q5_K -> fourOrFiveBits();
          case Q6_K -> sixBits();
        };
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
    row.run();
    store(fourths);
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

  private static Vec sum(int token, int row) {
    return zmm(ROWS * token + row);
  }

  private Mem row(int row, int offset) {
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

  private Mem activations(int token, int offset) {
    return ofToken(RBX, token, offset);
  }

  private Mem scales(int token, int offset) {
    return ofToken(R13, token, offset);
  }

  private Mem sums(int token, int offset) {
    return ofToken(R15, token, offset);
  }

  /** Asks for what a step behind this one reads of every row. */
  private void prefetch(int bytes) {
    for (int row = 0; row < ROWS; row++) {
      for (int at = 0; at < bytes; at += LINE) {
        a.prefetcht1(row(row, AHEAD + at));
      }
    }
  }

  private Mem rowScales(int row) {
    return at(RSP, 64 * row);
  }

  // ---- Types without blocks: 32 values of each row at a time, so that a line is asked for once.

  private void floats() {
    Label rest = new Label();
    Label last = new Label();
    Label end = new Label();
    a.mov(RAX, RBP);
    a.and(RAX, 15);
    a.sub(RBP, 32);
    a.jump(Condition.LESS, rest);
    Label step = a.loop();
    prefetch(32 * type.blockBytes());
    floatStep(0, false);
    floatStep(16, false);
    a.add(R12, 32 * type.blockBytes());
    a.add(RBX, 32 * Float.BYTES);
    a.sub(RBP, 32);
    a.jump(Condition.NOT_LESS, step);
    a.place(rest);
    a.add(RBP, 16);
    a.jump(Condition.LESS, last);
    floatStep(0, false);
    a.add(R12, 16 * type.blockBytes());
    a.add(RBX, 16 * Float.BYTES);
    a.place(last);
    a.test(RAX, RAX);
    a.jump(Condition.EQUAL, end);
    Snippets.first(a, K3, RAX, R14);
    floatStep(0, true);
    a.place(end);
  }

  private Assembler lanes(boolean some) {
    return some ? a.zero(K3) : a;
  }

  /** Multiplies 16 values, or some, from so many values on. */
  private void floatStep(int first, boolean some) {
    for (int row = 0; row < ROWS; row++) {
      Vec weights = zmm(20 + row);
      Mem from = row(row, first * type.blockBytes());
      switch (type) {
        case F32 -> lanes(some).op(VMOVUPS, weights, from);
        case F16 -> lanes(some).op(VCVTPH2PS, weights, from);
        default -> {
          lanes(some).op(VPMOVZXWD, weights, from);
          a.op(VPSLLD_IMM, weights, weights, 16);
        }
      }
    }
    for (int token = 0; token < tokens; token++) {
      lanes(some).op(VMOVUPS, zmm(24), activations(token, first * Float.BYTES));
      for (int row = 0; row < ROWS; row++) {
        a.op(VFMADD231PS, sum(token, row), zmm(20 + row), zmm(24));
      }
    }
  }

  // ---- Constants, on the stack.

  private Mem constant() {
    if (constants == MOST_CONSTANTS) {
      throw new IllegalStateException("the stack has room for no more constants");
    }
    return at(RSP, CONSTANTS + 64 * constants++);
  }

  /** A constant of 16 words of 32 bits, given as bytes, the lowest first. */
  private Mem words(long low, long high) {
    Mem place = constant();
    Snippets.bytes(a, SCRATCH, low, high, RAX);
    a.op(VMOVUPS_STORE, place, SCRATCH);
    return place;
  }

  /** 64 bytes: eight longs, or the same two again and again. */
  private Mem longs(long... values) {
    Mem place = constant();
    for (int i = 0; i < 8; i++) {
      a.mov(RAX, values[i % values.length]);
      a.mov(at(RSP, place.displacement() + 8 * i), RAX);
    }
    return place;
  }

  private Mem bytesOf(int value) {
    return longs(value * 0x0101_0101_0101_0101L);
  }

  private Mem floatsOf(float value) {
    return longs(Float.floatToRawIntBits(value) * 0x1_0000_0001L);
  }

  /** A byte four times, for four words. */
  private static long four(int value) {
    return value * 0x0101_0101L;
  }

  /** Words whose first eight are one number and whose others are another. */
  private Mem halves(int first, int second) {
    return words(four(first) * 0x1_0000_0001L, four(second) * 0x1_0000_0001L);
  }

  /** Words of which four at a time are {@code first}, {@code first + 1} and so on. */
  private Mem fours(int first) {
    return words(four(first) | (four(first + 1) << 32), four(first + 2) | (four(first + 3) << 32));
  }

  // ---- Small blocks.

  /** Q8_0: two blocks a register. */
  private Runnable bytes() {
    Mem bits = bytesOf(0x80);
    Mem both = halves(0, 1);
    Mem sumOfQuarter = fours(0);
    Mem excess = floatsOf(-128 / 4f);
    // Float16 at bytes 0 and 34.
    Mem ofBoth = longs(0, 0, 0x0011_0011_0011_0011L, 0x0011_0011_0011_0011L);
    return () -> {
      Label rest = new Label();
      Label end = new Label();
      a.sub(RBP, 2);
      a.jump(Condition.LESS, rest);
      Label step = a.loop();
      prefetch(64);
      a.op(VMOVUPS, SCRATCH, ofBoth);
      for (int row = 0; row < ROWS; row++) {
        a.op(VMOVDQU32, zmm(16 + row).as(32), row(row, 2));
        a.op(VINSERTI64X4, zmm(16 + row), zmm(16 + row), row(row, 36), 1);
        a.op(VPERMW, zmm(20 + row), SCRATCH, row(row, 0));
        a.op(VCVTPH2PS, zmm(20 + row), zmm(20 + row).as(32));
      }
      byteStep(bits, both, sumOfQuarter, excess);
      a.add(R12, 2 * type.blockBytes());
      a.add(RBX, FewActivations.PAIR);
      a.add(R13, 2 * Float.BYTES);
      a.add(R15, 4 * Float.BYTES);
      a.sub(RBP, 2);
      a.jump(Condition.NOT_LESS, step);
      a.place(rest);
      a.add(RBP, 2);
      a.jump(Condition.EQUAL, end);
      for (int row = 0; row < ROWS; row++) {
        a.op(VMOVDQU32, zmm(16 + row).as(32), row(row, 2));
        // The other block has the scale 0.
        a.op(VPBROADCASTW, zmm(20 + row).as(16), row(row, 0));
        a.op(VCVTPH2PS, zmm(20 + row).as(32), zmm(20 + row).as(16));
      }
      byteStep(bits, both, sumOfQuarter, excess);
      a.place(end);
    };
  }

  private void byteStep(Mem bits, Mem both, Mem sumOfQuarter, Mem excess) {
    Vec scale = zmm(26);
    Vec tooMuch = zmm(27);
    for (int row = 0; row < ROWS; row++) {
      a.op(VPXORD, zmm(16 + row), zmm(16 + row), bits);
    }
    for (int token = 0; token < tokens; token++) {
      a.op(VMOVUPS, scale, both);
      a.op(VPERMPS, scale, scale, scales(token, 0));
      a.op(VMOVUPS, tooMuch, sumOfQuarter);
      a.op(VPERMPS, tooMuch, tooMuch, sums(token, 0));
      a.op(VMULPS, tooMuch, tooMuch, excess);
      for (int row = 0; row < ROWS; row++) {
        Snippets.clear(a, PRODUCT);
        a.op(VPDPBUSD, PRODUCT, zmm(16 + row), activations(token, FewActivations.HIGH));
        a.op(VPSLLD_IMM, PRODUCT, PRODUCT, 8);
        a.op(VPDPBUSD, PRODUCT, zmm(16 + row), activations(token, FewActivations.LOW));
        a.op(VCVTDQ2PS, PRODUCT, PRODUCT);
        a.op(VFMADD213PS, PRODUCT, scale, tooMuch);
        a.op(VFMADD231PS, sum(token, row), zmm(20 + row), PRODUCT);
      }
    }
  }

  /** Q4_0 and Q4_1: four blocks a register, low nibbles and high ones apart. */
  private Runnable nibbles() {
    boolean one = type == DataType.Q4_1;
    int bytes = type.blockBytes();
    Mem bits = bytesOf(0x0F);
    Mem ofFour = fours(0);
    Mem twice = words(0x0303_0202_0101_0000L, 0x0707_0606_0505_0404L);
    Mem excess = floatsOf(one ? 1 / 2f : -8 / 2f);
    long block = bytes / 2 * 0x0001_0001_0001_0001L;
    Mem scaleWords = longs(0, block, 2 * block, 3 * block);
    long minimum = 0x0001_0001_0001_0001L;
    Mem offsetWords = longs(minimum, block + minimum, 2 * block + minimum, 3 * block + minimum);
    return () -> {
      Label rest = new Label();
      Label end = new Label();
      a.sub(RBP, 4);
      a.jump(Condition.LESS, rest);
      Label step = a.loop();
      prefetch(64);
      for (int row = 0; row < ROWS; row++) {
        Vec raw = zmm(16 + row);
        a.op(VBROADCASTI32X4, raw, row(row, bytes - 16));
        for (int i = 1; i < 4; i++) {
          a.merge(QUARTERS[i - 1]).op(VBROADCASTI32X4, raw, row(row, i * bytes + bytes - 16));
        }
        a.op(VMOVDQU32, PRODUCT, row(row, 0));
        nibbleScales(row, scaleWords, offsetWords, one);
      }
      nibbleStep(bits, ofFour, twice, excess, one);
      a.add(R12, 4 * bytes);
      a.add(RBX, 2 * FewActivations.PAIR);
      a.add(R13, 4 * Float.BYTES);
      a.add(R15, 8 * Float.BYTES);
      a.sub(RBP, 4);
      a.jump(Condition.NOT_LESS, step);
      a.place(rest);
      a.add(RBP, 4);
      a.jump(Condition.EQUAL, end);
      // Of one to three blocks, nothing beyond them is touched.
      a.lea(RAX, at(RBP, RBP, 1));
      a.add(RAX, RAX);
      Snippets.first(a, K2, RAX, R14);
      a.lea(RAX, at(RBP, RBP, 8));
      if (one) {
        a.add(RAX, RBP);
      }
      Snippets.first(a, K3, RAX, R14);
      for (int row = 0; row < ROWS; row++) {
        Vec raw = zmm(16 + row);
        a.op(VBROADCASTI32X4, raw, row(row, bytes - 16));
        for (int i = 1; i < 4; i++) {
          Label missing = new Label();
          a.cmp(RBP, i);
          a.jump(Condition.NOT_GREATER, missing);
          a.merge(QUARTERS[i - 1]).op(VBROADCASTI32X4, raw, row(row, i * bytes + bytes - 16));
          a.place(missing);
        }
        a.zero(K2).op(VMOVDQU32, raw, raw);
        a.zero(K3).op(VMOVDQU16, PRODUCT, row(row, 0));
        nibbleScales(row, scaleWords, offsetWords, one);
      }
      nibbleStep(bits, ofFour, twice, excess, one);
      a.place(end);
    };
  }

  /**
   * The blocks' scales, for four lanes each, go to the stack, offsets to the raw bytes' partner.
   */
  private void nibbleScales(int row, Mem scaleWords, Mem offsetWords, boolean one) {
    a.op(VMOVUPS, SCRATCH, scaleWords);
    a.op(VPERMW, SCRATCH, SCRATCH, PRODUCT);
    a.op(VCVTPH2PS, SCRATCH, SCRATCH.as(32));
    a.op(VMOVUPS_STORE, rowScales(row), SCRATCH);
    if (one) {
      a.op(VMOVUPS, SCRATCH, offsetWords);
      a.op(VPERMW, SCRATCH, SCRATCH, PRODUCT);
      a.op(VCVTPH2PS, zmm(20 + row), SCRATCH.as(32));
    }
  }

  private void nibbleStep(Mem bits, Mem ofFour, Mem twice, Mem excess, boolean one) {
    if (one) {
      // Before the registers of offsets become those of high nibbles.
      for (int token = 0; token < tokens; token++) {
        sumsOfHalves(token, twice, excess);
        for (int row = 0; row < ROWS; row++) {
          a.op(VFMADD231PS, sum(token, row), zmm(20 + row), SCRATCH);
        }
      }
    }
    for (int row = 0; row < ROWS; row++) {
      a.op(VPSRLW_IMM, zmm(20 + row), zmm(16 + row), 4);
      a.op(VPANDD, zmm(16 + row), zmm(16 + row), bits);
      a.op(VPANDD, zmm(20 + row), zmm(20 + row), bits);
    }
    Vec scale = zmm(28);
    for (int token = 0; token < tokens; token++) {
      int next = FewActivations.PAIR;
      int[] places = {FewActivations.HIGH, FewActivations.LOW};
      for (int part = 0; part < 2; part++) {
        a.op(VMOVDQU32, PRODUCT, activations(token, places[part]));
        Mem behind = activations(token, next + places[part]);
        a.op(VSHUFI32X4, zmm(24 + 2 * part), PRODUCT, behind, 0x88);
        a.op(VSHUFI32X4, zmm(25 + 2 * part), PRODUCT, behind, 0xDD);
      }
      a.op(VMOVUPS, scale, ofFour);
      a.op(VPERMPS, scale, scale, scales(token, 0));
      if (!one) {
        sumsOfHalves(token, twice, excess);
      }
      for (int row = 0; row < ROWS; row++) {
        Snippets.clear(a, PRODUCT);
        a.op(VPDPBUSD, PRODUCT, zmm(16 + row), zmm(24));
        a.op(VPDPBUSD, PRODUCT, zmm(20 + row), zmm(25));
        a.op(VPSLLD_IMM, PRODUCT, PRODUCT, 8);
        a.op(VPDPBUSD, PRODUCT, zmm(16 + row), zmm(26));
        a.op(VPDPBUSD, PRODUCT, zmm(20 + row), zmm(27));
        a.op(VCVTDQ2PS, PRODUCT, PRODUCT);
        if (one) {
          a.op(VMULPS, PRODUCT, PRODUCT, scale);
        } else {
          a.op(VFMADD213PS, PRODUCT, scale, SCRATCH);
        }
        a.op(VFMADD231PS, sum(token, row), PRODUCT, rowScales(row));
      }
    }
  }

  /** Sums of half blocks for two lanes each, times a factor. */
  private void sumsOfHalves(int token, Mem twice, Mem factor) {
    a.op(VMOVUPS, SCRATCH, twice);
    a.op(VPERMPS, SCRATCH, SCRATCH, sums(token, 0));
    a.op(VMULPS, SCRATCH, SCRATCH, factor);
  }

  // ---- Blocks of 256.

  /** A loop over blocks. */
  private void largeBlocks(Runnable body) {
    Label block = a.loop();
    prefetch(type.blockBytes());
    body.run();
    a.add(R12, type.blockBytes());
    a.add(RBX, 4 * FewActivations.PAIR);
    a.add(R13, 8 * Float.BYTES);
    a.add(R15, 16 * Float.BYTES);
    a.sub(RBP, 1);
    a.jump(Condition.NOT_EQUAL, block);
  }

  /** Takes off what registers 24 to 27 hold for every row, times the sums of half runs. */
  private void subtractSums() {
    for (int token = 0; token < tokens; token++) {
      for (int row = 0; row < ROWS; row++) {
        a.op(VFNMADD231PS, sum(token, row), zmm(24 + row), sums(token, 0));
      }
    }
  }

  /**
   * Multiplies the weights of registers 16 to 19, two runs each, and adds.
   *
   * @param first the first of the runs
   * @param second the other one
   * @param ofRuns indices of the runs' scales
   * @param ofWeights indices of the weights' scales
   */
  private void multiplyRuns(int first, int second, Mem ofRuns, Mem ofWeights) {
    a.op(VMOVUPS, SCRATCH, ofWeights);
    for (int row = 0; row < ROWS; row++) {
      a.op(VPERMPS, zmm(20 + row), SCRATCH, rowScales(row));
    }
    Vec scale = zmm(26);
    for (int token = 0; token < tokens; token++) {
      a.op(VMOVUPS, scale, ofRuns);
      a.op(VPERMPS, scale, scale, scales(token, 0));
      runs(zmm(24), token, first, second, FewActivations.HIGH);
      runs(zmm(25), token, first, second, FewActivations.LOW);
      for (int row = 0; row < ROWS; row++) {
        Snippets.clear(a, PRODUCT);
        a.op(VPDPBUSD, PRODUCT, zmm(16 + row), zmm(24));
        a.op(VPSLLD_IMM, PRODUCT, PRODUCT, 8);
        a.op(VPDPBUSD, PRODUCT, zmm(16 + row), zmm(25));
        a.op(VCVTDQ2PS, PRODUCT, PRODUCT);
        a.op(VMULPS, PRODUCT, PRODUCT, scale);
        a.op(VFMADD231PS, sum(token, row), PRODUCT, zmm(20 + row));
      }
    }
  }

  private void runs(Vec to, int token, int first, int second, int place) {
    if (first % 2 == 0 && second == first + 1) {
      a.op(VMOVDQU32, to, activations(token, FewActivations.place(first) + place));
    } else {
      a.op(VMOVDQU32, to.as(32), activations(token, FewActivations.place(first) + place));
      a.op(VINSERTI64X4, to, to, activations(token, FewActivations.place(second) + place), 1);
    }
  }

  /** Q4_K and Q5_K. */
  private Runnable fourOrFiveBits() {
    boolean five = type == DataType.Q5_K;
    Mem bits = bytesOf(0x0F);
    Mem fifth = bytesOf(0x10);
    // Of a block's first 16 bytes, d and dmin come first, then twelve bytes of 6-bit numbers. The
    // first four scales are the low bits of bytes 4 to 7, the first minima those of 8 to 11; the
    // others have their low 4 bits in 12 to 15 and the upper 2 in the upper bits of the others.
    Mem own = longs(0x0F0E_0D0C_0706_0504L, 0x0F0E_0D0C_0B0A_0908L);
    Mem ownShifts = longs(0, 0x0000_0004_0000_0000L);
    Mem ownBits = longs(0x0F0F_0F0F_3F3F_3F3FL);
    Mem upper = longs(0x0706_0504_8080_8080L, 0x0B0A_0908_8080_8080L);
    Mem upperBits = longs(0x3030_3030_3030_3030L);
    Mem minima = words(0x0B0B_0A0A_0909_0808L, 0x0F0F_0E0E_0D0D_0C0CL);
    Mem[] pairs = {halves(0, 2), halves(1, 3), halves(4, 6), halves(5, 7)};
    // Bits 0 and 2, 1 and 3, 4 and 6, 5 and 7 of bytes become the fifth.
    Mem[] shifts =
        five ? new Mem[] {shifts(4, 2), shifts(3, 1), shifts(0, 2), shifts(1, 3)} : new Mem[0];
    return () ->
        largeBlocks(
            () -> {
              Vec start = zmm(16);
              Vec numbers = zmm(17);
              Vec more = zmm(18);
              Vec place = zmm(19);
              a.op(VBROADCASTI32X4, start, row(0, 0));
              for (int row = 1; row < ROWS; row++) {
                a.merge(QUARTERS[row - 1]).op(VBROADCASTI32X4, start, row(row, 0));
              }
              a.op(VPSHUFB, numbers, start, own);
              a.op(VPSRLVD, numbers, numbers, ownShifts);
              a.op(VPANDD, numbers, numbers, ownBits);
              a.op(VPSHUFB, more, start, upper);
              a.op(VPSRLW_IMM, more, more, 2);
              a.op(VPTERNLOGD, numbers, more, upperBits, OR_OF_AND);
              a.op(VMOVDQU32_STORE, rowScales(0), numbers);
              for (int row = ROWS - 1; row >= 0; row--) {
                a.op(VPMOVZXBD, zmm(20 + row), at(RSP, 16 * row));
                a.op(VCVTDQ2PS, zmm(20 + row), zmm(20 + row));
                a.op(VPBROADCASTW, place.as(32), row(row, 0));
                a.merge(K1).op(VPBROADCASTW, place.as(32), row(row, 2));
                a.op(VCVTPH2PS, place, place.as(32));
                a.op(VMULPS, zmm(20 + row), zmm(20 + row), place);
              }
              a.op(VMOVUPS, SCRATCH, minima);
              for (int row = 0; row < ROWS; row++) {
                a.op(VMOVUPS_STORE, rowScales(row), zmm(20 + row));
                a.op(VPERMPS, zmm(24 + row), SCRATCH, zmm(20 + row));
              }
              subtractSums();
              for (int pair = 0; pair < 4; pair++) {
                int first = 4 * (pair / 2) + pair % 2;
                for (int row = 0; row < ROWS; row++) {
                  nibblesOf(
                      zmm(16 + row), row(row, (five ? 48 : 16) + 64 * (pair / 2)), pair, bits);
                  if (five) {
                    a.op(VBROADCASTI64X4, SCRATCH, row(row, 16));
                    a.op(pair < 2 ? VPSLLVW : VPSRLVW, SCRATCH, SCRATCH, shifts[pair]);
                    a.op(VPTERNLOGD, zmm(16 + row), SCRATCH, fifth, OR_OF_AND);
                  }
                }
                multiplyRuns(first, first + 2, pairs[pair], pairs[pair]);
              }
            });
  }

  /** How far words of either half of a register are moved. */
  private Mem shifts(int first, int second) {
    long low = first * 0x0001_0001_0001_0001L;
    long high = second * 0x0001_0001_0001_0001L;
    return longs(low, low, low, low, high, high, high, high);
  }

  /** The low nibbles of 64 bytes, or the high ones where the number is odd. */
  private void nibblesOf(Vec to, Mem from, int number, Mem bits) {
    a.op(VMOVDQU32, to, from);
    if (number % 2 == 1) {
      a.op(VPSRLW_IMM, to, to, 4);
    }
    a.op(VPANDD, to, to, bits);
  }

  private Runnable sixBits() {
    Mem bits = bytesOf(0x0F);
    Mem upperBits = bytesOf(0x30);
    Mem excess = floatsOf(32);
    Mem[] shifts = {shifts(4, 2), shifts(0, 2)};
    Mem[] pairs = {halves(0, 1), halves(2, 3), halves(4, 5), halves(6, 7)};
    Mem[] quarters = {fours(0), fours(4), fours(8), fours(12)};
    return () ->
        largeBlocks(
            () -> {
              for (int row = 0; row < ROWS; row++) {
                Vec scales = zmm(20 + row);
                a.op(VPBROADCASTW, SCRATCH.as(32), row(row, 208));
                a.op(VCVTPH2PS, SCRATCH, SCRATCH.as(32));
                a.op(VPMOVSXBD, scales, row(row, 192));
                a.op(VCVTDQ2PS, scales, scales);
                a.op(VMULPS, scales, scales, SCRATCH);
                a.op(VMOVUPS_STORE, rowScales(row), scales);
                a.op(VMULPS, zmm(24 + row), scales, excess);
              }
              subtractSums();
              for (int pair = 0; pair < 4; pair++) {
                for (int row = 0; row < ROWS; row++) {
                  nibblesOf(zmm(16 + row), row(row, 64 * (pair / 2)), pair, bits);
                  a.op(VBROADCASTI64X4, SCRATCH, row(row, 128 + 32 * (pair / 2)));
                  a.op(pair % 2 == 0 ? VPSLLVW : VPSRLVW, SCRATCH, SCRATCH, shifts[pair % 2]);
                  a.op(VPTERNLOGD, zmm(16 + row), SCRATCH, upperBits, OR_OF_AND);
                }
                multiplyRuns(2 * pair, 2 * pair + 1, pairs[pair], quarters[pair]);
              }
            });
  }

  // ---- The end of a group.

  private void store(Mem fourths) {
    Vec sums = zmm(20);
    a.mov(RAX, R8);
    a.mov(R14, at(R9, 24));
    a.lea(R15, at(R14, R14, 2));
    a.op(VMOVUPS, zmm(28), fourths);
    for (int token = 0; token < tokens; token++) {
      fold(sums, sum(token, 0), sum(token, 1));
      fold(zmm(21), sum(token, 2), sum(token, 3));
      fold(sums, sums, zmm(21));
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
