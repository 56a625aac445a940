package io.steelyard.kernels.avx2;

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
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VINSERTI128;
import static io.steelyard.kernels.assembler.Op.VMOVDQU;
import static io.steelyard.kernels.assembler.Op.VMOVDQU_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VMULSS;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTD;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTW;
import static io.steelyard.kernels.assembler.Op.VPERMILPS;
import static io.steelyard.kernels.assembler.Op.VPMOVSXBD;
import static io.steelyard.kernels.assembler.Op.VPMOVZXBD;
import static io.steelyard.kernels.assembler.Op.VPOR;
import static io.steelyard.kernels.assembler.Op.VPSHUFB;
import static io.steelyard.kernels.assembler.Op.VPSLLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPSRLD_IMM;
import static io.steelyard.kernels.assembler.Op.VPSRLVD;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPSUBB;
import static io.steelyard.kernels.assembler.Op.VSUBPS;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import java.util.function.IntFunction;

/**
 * Unpacks blocks of quantised rows: every value as a signed byte, and beside them the float32
 * scales and what is to be added, one each for 32 values (Q6_K: scales for 16 and nothing added).
 * Of Q4_0, Q5_0 and MXFP4 values are 8, 16 and 12 more on demand, with what is to be added for it.
 *
 * <p>Arguments of its functions: the first row's first block; where bytes go; where scales go;
 * where offsets go; blocks of a row, at least 1; the address of four longs: rows, at least 1, and
 * the bytes from one row to the next of blocks, of bytes, and of both scales and offsets.
 *
 * <p>Source of the layouts: {@code ggml-common.h}.
 */
final class Unpack {
  private static final Vec NIBBLES = ymm(15);
  private static final Vec CONSTANT = ymm(14);
  private static final Vec HIGH_BITS = ymm(12);
  private static final Vec LESS = ymm(8);

  /** What weights of 6 bits are stored above their value. */
  private static final int SIX_BITS_EXCESS = 32;

  // Of Q5_0 and Q5_1: see FifthBits.
  private static final Vec DOWN = ymm(12);
  private static final Vec COPIES = ymm(11);
  private static final Vec OWN = ymm(10);
  private static final Vec TABLE = ymm(9);

  /** Of Q4_K and Q5_K: where {@link #kScales} finds what it needs, below what is on the stack. */
  private static final int K_CONSTANTS = -48;

  private Unpack() {}

  /**
   * Unpacks a type.
   *
   * @param unsigned whether no value is negative, which is possible for types of 4 to 6 bits and
   *     for MXFP4
   */
  static Function of(DataType type, boolean unsigned) {
    return Function.avx2(a -> write(a, type, unsigned));
  }

  private static void write(Assembler a, DataType type, boolean unsigned) {
    bytes(a, NIBBLES, 0x0F);
    if (Levels.has(type)) {
      Levels.constants(a, type, unsigned ? Levels.least(type) : 0);
    } else {
      bytes(
          a,
          CONSTANT,
          switch (type) {
            case Q4_0 -> 8;
            case Q6_K -> SIX_BITS_EXCESS;
            default -> 16;
          });
    }
    if (type == DataType.Q6_K) {
      bytes(a, HIGH_BITS, 0x30);
    }
    if (FifthBits.has(type)) {
      Snippets.bytes(a, DOWN, 0x1C18_1410_0C08_0400L, 0, RAX);
      Snippets.halves(a, COPIES, FifthBits.COPIES, FifthBits.MORE_COPIES, RAX);
      Snippets.constant(a, OWN, FifthBits.OWN, RAX);
      Snippets.halves(a, TABLE, FifthBits.TABLE, FifthBits.MORE_TABLE, RAX);
    }
    if (unsigned) {
      switch (type) {
        case Q4_0, Q5_0 -> Snippets.constant(a, LESS, (float) -FifthBits.excess(type), RAX);
        case MXFP4 -> Snippets.constant(a, LESS, (float) Levels.least(type), RAX);
        default -> {}
      }
    }
    Gpr[] kept = {RBX, RBP, R12, R13, R14, R15};
    for (Gpr register : kept) {
      a.push(register);
    }
    if (type == DataType.Q4_K || type == DataType.Q5_K) {
      kConstants(a, K_CONSTANTS);
    }
    a.mov(R12, RDI);
    a.mov(R13, RSI);
    a.mov(R14, RDX);
    a.mov(R15, RCX);
    a.mov(RBP, R8);
    a.mov(RBX, at(R9));
    Label row = a.loop();
    a.mov(RDI, R12);
    a.mov(RSI, R13);
    a.mov(RDX, R14);
    a.mov(RCX, R15);
    a.mov(R8, RBP);
    blocks(a, type, unsigned);
    a.add(R12, at(R9, 8));
    a.add(R13, at(R9, 16));
    a.add(R14, at(R9, 24));
    a.add(R15, at(R9, 24));
    a.sub(RBX, 1);
    a.jump(Condition.NOT_EQUAL, row);
    for (int i = kept.length - 1; i >= 0; i--) {
      a.pop(kept[i]);
    }
  }

  private static void blocks(Assembler a, DataType type, boolean unsigned) {
    Label block = a.loop();
    switch (type) {
      case Q8_0 -> {
        a.op(VMOVDQU, ymm(0), at(RDI, 2));
        a.op(VMOVDQU_STORE, at(RSI), ymm(0));
        half(a, xmm(1), at(RDI));
        a.op(VMOVSS_STORE, at(RDX), xmm(1));
      }
      case Q4_0, Q5_0 -> {
        smallBlock(a, type);
        if (!unsigned) {
          a.op(VPSUBB, ymm(0), ymm(0), CONSTANT);
        }
        a.op(VMOVDQU_STORE, at(RSI), ymm(0));
        half(a, xmm(1), at(RDI));
        scale(a, unsigned);
      }
      case Q4_1, Q5_1 -> {
        smallBlock(a, type);
        a.op(VMOVDQU_STORE, at(RSI), ymm(0));
        half(a, xmm(1), at(RDI));
        a.op(VMOVSS_STORE, at(RDX), xmm(1));
        half(a, xmm(1), at(RDI, 2));
        a.op(VMOVSS_STORE, at(RCX), xmm(1));
      }
      case IQ4_NL -> {
        levels(a, 0, at(RDI, 2));
        half(a, xmm(1), at(RDI));
        a.op(VMOVSS_STORE, at(RDX), xmm(1));
      }
      case MXFP4 -> {
        levels(a, 0, at(RDI, 1));
        Levels.powerOfTwo(a, xmm(1), at(RDI));
        scale(a, unsigned);
      }
      case IQ4_XS -> {
        Levels.scales(a, ymm(1), ymm(2), ymm(3), at(RDI));
        a.op(VMOVUPS_STORE, at(RDX), ymm(1));
        for (int run = 0; run < 8; run++) {
          levels(a, run, at(RDI, 8 + 16 * run));
        }
      }
      case Q4_K, Q5_K -> {
        kScales(a, offset -> at(RDI, offset), K_CONSTANTS, ymm(0), ymm(1), ymm(2));
        a.op(VMOVUPS_STORE, at(RDX), ymm(0));
        Snippets.clear(a, ymm(2));
        a.op(VSUBPS, ymm(1), ymm(2), ymm(1));
        a.op(VMOVUPS_STORE, at(RCX), ymm(1));
        for (int pair = 0; pair < 4; pair++) {
          fourOrFive(a, type, pair);
        }
      }
      case Q6_K -> sixBits(a, unsigned);
      default -> throw MachineCode.unsupported(type);
    }
    a.add(RDI, type.blockBytes());
    a.add(RSI, type.blockSize());
    a.add(RDX, type.blockSize() / (type == DataType.Q6_K ? 16 : 32) * Float.BYTES);
    a.add(RCX, type.blockSize() / 32 * 4);
    a.sub(R8, 1);
    a.jump(Condition.NOT_EQUAL, block);
  }

  /** Writes the scale of a small block and, where values are more than they are, what to add. */
  private static void scale(Assembler a, boolean unsigned) {
    a.op(VMOVSS_STORE, at(RDX), xmm(1));
    if (unsigned) {
      a.op(VMULSS, xmm(1), xmm(1), LESS.as(16));
      a.op(VMOVSS_STORE, at(RCX), xmm(1));
    }
  }

  private static void bytes(Assembler a, Vec to, int value) {
    a.mov(RAX, value * 0x0101_0101L);
    a.vmovd(to.as(16), RAX);
    a.op(VPBROADCASTD, to, to.as(16));
  }

  /** A float16 becomes float32 in all lanes. */
  private static void half(Assembler a, Vec to, Mem from) {
    a.op(VPBROADCASTW, to.as(16), from);
    a.op(VCVTPH2PS, to, to.as(16));
  }

  /** 16 bytes of nibbles: the low ones, then the high ones. */
  private static void nibbles(Assembler a, Mem from) {
    a.op(VMOVDQU, xmm(0), from);
    a.op(VPSRLW_IMM, xmm(1), xmm(0), 4);
    a.op(VINSERTI128, ymm(0), ymm(0), xmm(1), 1);
    a.op(VPAND, ymm(0), ymm(0), NIBBLES);
  }

  /** The 32 values of a small block, as they are stored. */
  private static void smallBlock(Assembler a, DataType type) {
    nibbles(a, at(RDI, type.blockBytes() - 16));
    if (FifthBits.has(type)) {
      a.op(VPBROADCASTD, ymm(1), at(RDI, FifthBits.place(type)));
      a.op(VPSRLVD, ymm(1), ymm(1), DOWN);
      a.op(VPSHUFB, ymm(1), ymm(1), COPIES);
      a.op(VPAND, ymm(1), ymm(1), OWN);
      a.op(VPSHUFB, ymm(1), TABLE, ymm(1));
      a.op(VPOR, ymm(0), ymm(0), ymm(1));
    }
  }

  /** A run of 32 levels, of which 16 bytes hold the numbers. */
  private static void levels(Assembler a, int run, Mem from) {
    nibbles(a, from);
    Levels.look(a, ymm(0));
    a.op(VMOVDQU_STORE, at(RSI, 32 * run), ymm(0));
  }

  /** Writes what {@link #kScales} needs to the stack, 48 bytes from a place on. */
  static void kConstants(Assembler a, int place) {
    longs(a, place, 0x3F3F_3F3F_3F3F_3F3FL, 0x0F0F_0F0F_0F0F_0F0FL);
    longs(a, place + 16, 0, 0x3030_3030_3030_3030L);
    longs(a, place + 32, 0, 0x4_0000_0000L);
  }

  /** Writes 16 bytes to the stack. */
  static void longs(Assembler a, int place, long low, long high) {
    a.mov(RAX, low);
    a.mov(at(RSP, place), RAX);
    a.mov(RAX, high);
    a.mov(at(RSP, place + 8), RAX);
  }

  /**
   * Scales and minima of a block of Q4_K or Q5_K: eight each, of 6 bits, in 12 bytes. Minima are to
   * be subtracted.
   *
   * @param block the places of the block by offset
   * @param constants where {@link #kConstants} are
   * @param other a register to overwrite
   */
  static void kScales(
      Assembler a, IntFunction<Mem> block, int constants, Vec scales, Vec minima, Vec other) {
    Vec words = scales.as(16);
    Vec upper = minima.as(16);
    // Words s0 s1 s2: the first four scales are s0's low 6 bits, the first four minima s1's; the
    // others have their low 4 bits in s2 and the upper 2 in s0 and s1.
    a.op(VMOVDQU, words, block.apply(4));
    a.op(VPSRLD_IMM, upper, words, 2);
    a.op(VPERMILPS, upper, upper, 0x44);
    a.op(VPAND, upper, upper, at(RSP, constants + 16));
    a.op(VPERMILPS, words, words, 0xA4);
    a.op(VPSRLVD, words, words, at(RSP, constants + 32));
    a.op(VPAND, words, words, at(RSP, constants));
    a.op(VPOR, words, words, upper);
    a.op(VPERMILPS, words, words, 0xD8);
    a.op(VPERMILPS, upper, words, 0x0E);
    Vec[] numbers = {scales, minima};
    for (int i = 0; i < 2; i++) {
      a.op(VPMOVZXBD, numbers[i], numbers[i].as(16));
      a.op(VCVTDQ2PS, numbers[i], numbers[i]);
      half(a, other, block.apply(2 * i));
      a.op(VMULPS, numbers[i], numbers[i], other);
    }
  }

  /** Moves the bits of every word up, or down for a negative count. */
  static void shift(Assembler a, Vec to, Vec from, int count) {
    a.op(count < 0 ? VPSRLW_IMM : VPSLLW_IMM, to, from, Math.abs(count));
  }

  /** 32 bytes of nibbles hold two runs of 32 values; Q5_K has their fifth bits elsewhere. */
  private static void fourOrFive(Assembler a, DataType type, int pair) {
    boolean five = type == DataType.Q5_K;
    a.op(VMOVDQU, ymm(0), at(RDI, (five ? 48 : 16) + 32 * pair));
    a.op(VPSRLW_IMM, ymm(1), ymm(0), 4);
    for (int i = 0; i < 2; i++) {
      a.op(VPAND, ymm(i), ymm(i), NIBBLES);
      if (five) {
        a.op(VMOVDQU, ymm(2), at(RDI, 16));
        shift(a, ymm(2), ymm(2), 4 - (2 * pair + i));
        a.op(VPAND, ymm(2), ymm(2), CONSTANT);
        a.op(VPOR, ymm(i), ymm(i), ymm(2));
      }
      a.op(VMOVDQU_STORE, at(RSI, 64 * pair + 32 * i), ymm(i));
    }
  }

  private static void sixBits(Assembler a, boolean unsigned) {
    half(a, ymm(2), at(RDI, 208));
    for (int eight = 0; eight < 2; eight++) {
      a.op(VPMOVSXBD, ymm(3), at(RDI, 192 + 8 * eight));
      a.op(VCVTDQ2PS, ymm(3), ymm(3));
      a.op(VMULPS, ymm(3), ymm(3), ymm(2));
      a.op(VMOVUPS_STORE, at(RDX, 32 * eight), ymm(3));
    }
    for (int run = 0; run < 8; run++) {
      int part = run / 4;
      int inPart = run % 4;
      a.op(VMOVDQU, ymm(0), at(RDI, 64 * part + 32 * (inPart % 2)));
      if (inPart >= 2) {
        a.op(VPSRLW_IMM, ymm(0), ymm(0), 4);
      }
      a.op(VPAND, ymm(0), ymm(0), NIBBLES);
      // Two bits, moved to the fifth and sixth place.
      a.op(VMOVDQU, ymm(1), at(RDI, 128 + 32 * part));
      shift(a, ymm(1), ymm(1), 4 - 2 * inPart);
      a.op(VPAND, ymm(1), ymm(1), HIGH_BITS);
      a.op(VPOR, ymm(0), ymm(0), ymm(1));
      if (!unsigned) {
        a.op(VPSUBB, ymm(0), ymm(0), CONSTANT);
      }
      a.op(VMOVDQU_STORE, at(RSI, 32 * run), ymm(0));
    }
  }
}
