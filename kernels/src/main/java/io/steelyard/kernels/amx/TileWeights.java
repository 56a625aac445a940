package io.steelyard.kernels.amx;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Gpr.RSP;
import static io.steelyard.kernels.assembler.Mask.K1;
import static io.steelyard.kernels.assembler.Mask.K2;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTNE2PS2BF16;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD213PS;
import static io.steelyard.kernels.assembler.Op.VMAXPS;
import static io.steelyard.kernels.assembler.Op.VMOVDQU16;
import static io.steelyard.kernels.assembler.Op.VMOVDQU32;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPANDD;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTD;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTW;
import static io.steelyard.kernels.assembler.Op.VPERMI2PS;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPMOVSXBD;
import static io.steelyard.kernels.assembler.Op.VPMOVZXBD;
import static io.steelyard.kernels.assembler.Op.VPORD;
import static io.steelyard.kernels.assembler.Op.VPSHUFB;
import static io.steelyard.kernels.assembler.Op.VPSLLD_IMM;
import static io.steelyard.kernels.assembler.Op.VPSRLD_IMM;
import static io.steelyard.kernels.assembler.Op.VPSRLVD;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPSUBD;
import static io.steelyard.kernels.assembler.Op.VPTERNLOGD;
import static io.steelyard.kernels.assembler.Op.VPXORD;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.ymm;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.EightBitFloats;
import io.steelyard.kernels.avx2.FifthBits;
import io.steelyard.kernels.avx2.FloatLevels;
import io.steelyard.kernels.avx2.Levels;
import io.steelyard.kernels.avx2.Snippets;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.TileCode;
import java.util.function.IntUnaryOperator;

/**
 * Rows of weights as a block of bf16, see {@link TileCode}.
 *
 * <p>Arguments of its functions: the first row's first weights; bytes from one row to the next;
 * where the block's first chunk goes; rows, 1 to 32; blocks of each row, for types without blocks
 * whole chunks; for those, how many weights come after the last whole chunk. Chunks of other rows
 * are left as they are.
 */
final class TileWeights {
  private static final int ROW = 64;

  /** Of three bits a, b and c: a or (b and c). */
  private static final int OR_OF_AND = 0xF8;

  // Registers with constants.
  private static final Vec VALUES = zmm(31);
  private static final Vec VALUES_FROM_16 = zmm(30);
  private static final Vec FIFTH_BIT = zmm(29);
  private static final Vec NIBBLE = zmm(28);
  private static final Vec UPPER_BITS = zmm(27);
  private static final Vec EXCESS = zmm(26);
  private static final Vec OWN = xmm(25);
  private static final Vec OWN_SHIFTS = xmm(24);
  private static final Vec OWN_BITS = xmm(23);
  private static final Vec UPPER = xmm(22);
  private static final Vec MINIMA = zmm(21);
  private static final Vec LEAST = zmm(20);
  private static final Vec HALF = zmm(19);
  private static final Vec LANES = zmm(20);
  private static final Vec LANES_FROM_16 = zmm(19);
  private static final Vec LOW_SHIFTS = zmm(18);
  private static final Vec HIGH_SHIFTS = zmm(17);
  private static final Vec KEPT = zmm(17);
  private static final Vec[] WORDS = {zmm(19), zmm(20), zmm(21), zmm(22)};

  private final Assembler a;
  private final DataType type;

  private TileWeights(Assembler a, DataType type) {
    this.a = a;
    this.type = type;
  }

  static Function of(DataType type) {
    return Function.of(a -> new TileWeights(a, type).write());
  }

  // Registers: R10 the block of the row, R11 where its first chunk goes.

  private void write() {
    constants();
    if (type.blockSize() == 1) {
      Snippets.first(a, K1, R9, RAX);
      a.shr(RAX, 16);
      a.kmovq(K2, RAX);
    }
    Label row = a.loop();
    a.mov(R10, RDI);
    a.mov(R11, RDX);
    a.mov(RAX, R8);
    Label rest = new Label();
    Label end = new Label();
    a.test(RAX, RAX);
    a.jump(Condition.EQUAL, rest);
    Label block = a.loop();
    int bytes = bytes();
    switch (type) {
      case F16 -> float16(false);
      case BF16 -> bfloat16(false);
      case FP8_E4M3, FP8_E5M2 -> eightBits(false);
      case NF4, FP4 -> floatLevels();
      case Q8_0 -> bytesOfBlock();
      case Q4_0, Q4_1, IQ4_NL, MXFP4 -> nibblesOfBlock();
      case Q5_0, Q5_1 -> fivesOfBlock();
      case IQ4_XS -> extraSmall();
      case Q4_K, Q5_K -> fourOrFiveBits();
      case Q6_K -> sixBits();
      default -> throw MachineCode.unsupported(type);
    }
    a.add(R10, bytes);
    a.add(R11, Math.max(type.blockSize(), TileCode.CHUNK) / TileCode.CHUNK * chunkBytes());
    a.sub(RAX, 1);
    a.jump(Condition.NOT_EQUAL, block);
    a.place(rest);
    if (type.blockSize() == 1) {
      a.test(R9, R9);
      a.jump(Condition.EQUAL, end);
      switch (type) {
        case F16 -> float16(true);
        case BF16 -> bfloat16(true);
        default -> eightBits(true);
      }
      a.place(end);
    }
    a.add(RDI, RSI);
    a.add(RDX, ROW);
    a.sub(RCX, 1);
    a.jump(Condition.NOT_EQUAL, row);
  }

  /** Of a block, or of the weights of a chunk. */
  private int bytes() {
    return type.blockSize() == 1 ? TileCode.CHUNK * type.blockBytes() : type.blockBytes();
  }

  private int chunkBytes() {
    return TileCode.weightBytes(type == DataType.F16);
  }

  private void constants() {
    switch (type) {
      case Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K -> {
        Snippets.indices(a, VALUES, RAX);
        Snippets.constant(a, NIBBLE, 0x0F, RAX);
        Snippets.constant(a, FIFTH_BIT, 16, RAX);
        a.op(VPADDD, VALUES_FROM_16, VALUES, FIFTH_BIT);
        if (FifthBits.has(type)) {
          a.op(VMOVUPS, LANES, VALUES);
          a.op(VMOVUPS, LANES_FROM_16, VALUES_FROM_16);
        }
        if (type == DataType.Q4_0 || type == DataType.Q5_0) {
          Snippets.constant(a, EXCESS, FifthBits.excess(type), RAX);
          a.op(VPSUBD, VALUES, VALUES, EXCESS);
          a.op(VPSUBD, VALUES_FROM_16, VALUES_FROM_16, EXCESS);
        }
        a.op(VCVTDQ2PS, VALUES, VALUES);
        a.op(VCVTDQ2PS, VALUES_FROM_16, VALUES_FROM_16);
      }
      case Q6_K -> {
        Snippets.constant(a, NIBBLE, 0x0F, RAX);
        Snippets.constant(a, UPPER_BITS, 0x30, RAX);
        Snippets.constant(a, EXCESS, -32f, RAX);
      }
      case IQ4_NL, IQ4_XS, MXFP4 -> levels();
      case FP8_E4M3 -> Snippets.constant(a, KEPT, EightBitFloats.KEPT_BITS, RAX);
      case NF4, FP4 -> {
        float[] levels = FloatLevels.of(type);
        lanes(VALUES, lane -> Float.floatToRawIntBits(levels[lane]));
        lanes(LOW_SHIFTS, FloatLevels::shift);
        for (int i = 0; i < WORDS.length; i++) {
          int first = 2 * i;
          lanes(WORDS[i], lane -> first + lane / 8);
        }
      }
      default -> {}
    }
    if (type == DataType.Q4_K || type == DataType.Q5_K) {
      // Of a block's first 16 bytes, d and dmin come first, then twelve bytes of 6-bit numbers. The
      // first four scales are the low bits of bytes 4 to 7, the first minima those of 8 to 11; the
      // others have their low 4 bits in 12 to 15 and the upper 2 in the upper bits of the others.
      longs(OWN, 0x0F0E_0D0C_0706_0504L, 0x0F0E_0D0C_0B0A_0908L);
      longs(OWN_SHIFTS, 0, 0x0000_0004_0000_0000L);
      longs(OWN_BITS, 0x0F0F_0F0F_3F3F_3F3FL, 0x0F0F_0F0F_3F3F_3F3FL);
      longs(UPPER, 0x0706_0504_8080_8080L, 0x0B0A_0908_8080_8080L);
      Snippets.constant(a, UPPER_BITS, 0x3030_3030, RAX);
      // Minima are taken off.
      a.mov(RAX, 0xFF00);
      a.kmovd(K1, RAX);
      Snippets.constant(a, EXCESS, 0x8000_0000, RAX);
      a.zero(K1).op(VPORD, MINIMA, EXCESS, EXCESS);
    }
  }

  private void levels() {
    longs(xmm(0), Levels.eight(type, true, 0), Levels.eight(type, false, 0));
    a.op(VPMOVSXBD, VALUES, xmm(0));
    a.op(VCVTDQ2PS, VALUES, VALUES);
    if (type == DataType.MXFP4) {
      Snippets.constant(a, LEAST, Levels.LEAST_POWER, RAX);
      Snippets.constant(a, HALF, Levels.HALF, RAX);
    }
    if (type == DataType.IQ4_XS) {
      // A run's scale has four bits in the second word of 4 bytes, two in the upper half of the
      // first.
      Snippets.indices(a, LOW_SHIFTS, RAX);
      Snippets.constant(a, HIGH_SHIFTS, 12, RAX);
      a.op(VPADDD, HIGH_SHIFTS, HIGH_SHIFTS, LOW_SHIFTS);
      a.op(VPADDD, HIGH_SHIFTS, HIGH_SHIFTS, LOW_SHIFTS);
      a.op(VPSLLD_IMM, LOW_SHIFTS, LOW_SHIFTS, 2);
      Snippets.constant(a, NIBBLE, 0x0F, RAX);
      Snippets.constant(a, UPPER_BITS, 0x30, RAX);
      Snippets.constant(a, EXCESS, Levels.EXCESS, RAX);
    }
  }

  private void longs(Vec to, long low, long high) {
    a.mov(RAX, low);
    a.mov(at(RSP, -16), RAX);
    a.mov(RAX, high);
    a.mov(at(RSP, -8), RAX);
    a.op(VMOVUPS, to, at(RSP, -16));
  }

  /** 16 numbers of 32 bits, each a function of its place. */
  private void lanes(Vec to, IntUnaryOperator number) {
    for (int i = 0; i < 16; i++) {
      a.mov(RAX, number.applyAsInt(i) & 0xFFFF_FFFFL);
      a.mov32(at(RSP, -64 + Integer.BYTES * i), RAX);
    }
    a.op(VMOVUPS, to, at(RSP, -64));
  }

  /** Stores the 32 weights of registers 0 and 1 in a chunk of this block. */
  private void store(int chunk) {
    a.op(VCVTNE2PS2BF16, zmm(0), zmm(1), zmm(0));
    a.op(VMOVUPS_STORE, at(R11, chunk * chunkBytes()), zmm(0));
  }

  /** A float16 goes to all lanes as float32. */
  private void half(Vec to, Mem from) {
    a.op(VPBROADCASTW, to.as(32), from);
    a.op(VCVTPH2PS, to, to.as(32));
  }

  // ---- Types without blocks.

  private void bfloat16(boolean some) {
    if (some) {
      a.zero(K1).op(VMOVDQU16, zmm(0), at(R10));
    } else {
      a.op(VMOVDQU32, zmm(0), at(R10));
    }
    a.op(VMOVUPS_STORE, at(R11), zmm(0));
  }

  private void float16(boolean some) {
    (some ? a.zero(K1) : a).op(VCVTPH2PS, zmm(0), at(R10));
    (some ? a.zero(K2) : a).op(VCVTPH2PS, zmm(1), at(R10, 32));
    Split.store(a, at(R11), at(R11, 2 * TileCode.TILE_BYTES));
  }

  /** Eight-bit floats, exactly, see {@link EightBitFloats}. */
  private void eightBits(boolean some) {
    for (int i = 0; i < 2; i++) {
      Assembler lanes = some ? a.zero(i == 0 ? K1 : K2) : a;
      EightBitFloats.loadWide(lanes, type, zmm(i), at(R10, 16 * i), KEPT);
    }
    store(0);
  }

  // ---- Small blocks.

  /** Each word of eight nibbles goes to eight lanes, which move their own down. */
  private void floatLevels() {
    Vec values = zmm(2);
    a.op(VMOVUPS, ymm(3), at(R10, Float.BYTES));
    a.broadcast(VMULPS, values, VALUES, at(R10));
    for (int chunk = 0; chunk < WORDS.length / 2; chunk++) {
      for (int i = 0; i < 2; i++) {
        a.op(VPERMPS, zmm(i), WORDS[2 * chunk + i], zmm(3));
        a.op(VPSRLVD, zmm(i), zmm(i), LOW_SHIFTS);
        a.op(VPERMPS, zmm(i), zmm(i), values);
      }
      store(chunk);
    }
  }

  private void bytesOfBlock() {
    half(zmm(2), at(R10));
    for (int i = 0; i < 2; i++) {
      a.op(VPMOVSXBD, zmm(i), at(R10, 2 + 16 * i));
      a.op(VCVTDQ2PS, zmm(i), zmm(i));
      a.op(VMULPS, zmm(i), zmm(i), zmm(2));
    }
    store(0);
  }

  /** Low nibbles, then high ones, each an index into the values that the block has. */
  private void nibblesOfBlock() {
    Vec values = zmm(2);
    if (type == DataType.MXFP4) {
      powerOfTwo(values);
    } else {
      half(values, at(R10));
    }
    if (type == DataType.Q4_1) {
      half(zmm(3), at(R10, 2));
      a.op(VFMADD213PS, values, VALUES, zmm(3));
    } else {
      a.op(VMULPS, values, values, VALUES);
    }
    nibbles(type.blockBytes() - 16, values, 0);
  }

  /** The same of 32 values, with {@link FifthBits}. */
  private void fivesOfBlock() {
    Vec values = zmm(2);
    Vec more = zmm(3);
    half(values, at(R10));
    if (type == DataType.Q5_1) {
      half(zmm(4), at(R10, 2));
      a.op(VMOVUPS, more, values);
      a.op(VFMADD213PS, more, VALUES_FROM_16, zmm(4));
      a.op(VFMADD213PS, values, VALUES, zmm(4));
    } else {
      a.op(VMULPS, more, values, VALUES_FROM_16);
      a.op(VMULPS, values, values, VALUES);
    }
    a.op(VPMOVZXBD, zmm(0), at(R10, type.blockBytes() - 16));
    a.op(VPSRLD_IMM, zmm(1), zmm(0), 4);
    a.op(VPANDD, zmm(0), zmm(0), NIBBLE);
    for (int i = 0; i < 2; i++) {
      Vec bit = zmm(4);
      a.op(VPBROADCASTD, bit, at(R10, FifthBits.place(type)));
      a.op(VPSRLVD, bit, bit, i == 0 ? LANES : LANES_FROM_16);
      a.op(VPSLLD_IMM, bit, bit, 4);
      a.op(VPTERNLOGD, zmm(i), bit, FIFTH_BIT, OR_OF_AND);
      a.op(VPERMI2PS, zmm(i), values, more);
    }
    store(0);
  }

  /** Stores as a chunk what 16 bytes of nibbles select of 16 values. */
  private void nibbles(int place, Vec values, int chunk) {
    a.op(VPMOVZXBD, zmm(0), at(R10, place));
    a.op(VPSRLD_IMM, zmm(1), zmm(0), 4);
    a.op(VPERMPS, zmm(0), zmm(0), values);
    a.op(VPERMPS, zmm(1), zmm(1), values);
    store(chunk);
  }

  /** The scale of MXFP4, whose first byte becomes a float32's exponent. */
  private void powerOfTwo(Vec to) {
    a.op(VPBROADCASTD, to, at(R10));
    a.op(VPSLLD_IMM, to, to, 24);
    a.op(VPSRLD_IMM, to, to, 1);
    a.op(VMAXPS, to, to, LEAST);
    a.op(VMULPS, to, to, HALF);
  }

  // ---- Blocks of 256.

  private static Mem scale(int run) {
    return at(RSP, -64 + Float.BYTES * run);
  }

  private static Mem minimum(int run) {
    return at(RSP, -32 + Float.BYTES * run);
  }

  private void extraSmall() {
    a.op(VPBROADCASTD, zmm(1), at(R10, 4));
    a.op(VPSRLVD, zmm(1), zmm(1), LOW_SHIFTS);
    a.op(VPANDD, zmm(1), zmm(1), NIBBLE);
    a.op(VPBROADCASTD, zmm(2), at(R10));
    a.op(VPSRLVD, zmm(2), zmm(2), HIGH_SHIFTS);
    a.op(VPTERNLOGD, zmm(1), zmm(2), UPPER_BITS, OR_OF_AND);
    a.op(VPSUBD, zmm(1), zmm(1), EXCESS);
    a.op(VCVTDQ2PS, zmm(1), zmm(1));
    half(zmm(2), at(R10));
    a.op(VMULPS, zmm(1), zmm(1), zmm(2));
    a.op(VMOVUPS_STORE, at(RSP, -64), zmm(1));
    for (int run = 0; run < 8; run++) {
      Vec values = zmm(2);
      a.broadcast(VMULPS, values, VALUES, scale(run));
      nibbles(8 + 16 * run, values, run);
    }
  }

  private void fourOrFiveBits() {
    boolean five = type == DataType.Q5_K;
    a.op(VMOVUPS, xmm(0), at(R10));
    a.op(VPSHUFB, xmm(1), xmm(0), OWN);
    a.op(VPSRLVD, xmm(1), xmm(1), OWN_SHIFTS);
    a.op(VPANDD, xmm(1), xmm(1), OWN_BITS);
    a.op(VPSHUFB, xmm(2), xmm(0), UPPER);
    a.op(VPSRLW_IMM, xmm(2), xmm(2), 2);
    a.op(VPTERNLOGD, xmm(1), xmm(2), UPPER_BITS.as(16), OR_OF_AND);
    a.op(VPMOVZXBD, zmm(1), xmm(1));
    a.op(VCVTDQ2PS, zmm(1), zmm(1));
    a.op(VPBROADCASTW, ymm(2), at(R10));
    a.merge(K1).op(VPBROADCASTW, ymm(2), at(R10, 2));
    a.op(VCVTPH2PS, zmm(2), ymm(2));
    a.op(VPXORD, zmm(2), zmm(2), MINIMA);
    a.op(VMULPS, zmm(1), zmm(1), zmm(2));
    a.op(VMOVUPS_STORE, at(RSP, -64), zmm(1));
    if (five) {
      a.op(VPMOVZXBD, zmm(8), at(R10, 16));
      a.op(VPMOVZXBD, zmm(9), at(R10, 32));
    }
    for (int run = 0; run < 8; run++) {
      if (run % 2 == 0) {
        int place = (five ? 48 : 16) + 16 * run;
        a.op(VPMOVZXBD, zmm(4), at(R10, place));
        a.op(VPMOVZXBD, zmm(5), at(R10, place + 16));
      }
      Vec values = zmm(2);
      a.op(VBROADCASTSS, values, scale(run));
      if (five) {
        a.op(VMOVUPS, zmm(3), values);
        a.broadcast(VFMADD213PS, zmm(3), VALUES_FROM_16, minimum(run));
      }
      a.broadcast(VFMADD213PS, values, VALUES, minimum(run));
      for (int i = 0; i < 2; i++) {
        Vec index = zmm(4 + i);
        if (run % 2 == 1) {
          a.op(VPSRLD_IMM, index, index, 4);
        }
        if (five) {
          // The fifth bit of a run is the bit of its number.
          Vec bit = zmm(8 + i);
          if (run < 4) {
            a.op(VPSLLD_IMM, zmm(i), bit, 4 - run);
          } else {
            a.op(VPSRLD_IMM, zmm(i), bit, run - 4);
          }
          a.op(VPANDD, zmm(i), zmm(i), FIFTH_BIT);
          a.op(VPANDD, zmm(6), index, NIBBLE);
          a.op(VPORD, zmm(i), zmm(i), zmm(6));
          a.op(VPERMI2PS, zmm(i), values, zmm(3));
        } else {
          a.op(VPERMPS, zmm(i), index, values);
        }
      }
      store(run);
    }
  }

  private void sixBits() {
    a.op(VPMOVSXBD, zmm(2), at(R10, 192));
    a.op(VCVTDQ2PS, zmm(2), zmm(2));
    half(zmm(3), at(R10, 208));
    a.op(VMULPS, zmm(2), zmm(2), zmm(3));
    a.op(VMOVUPS_STORE, at(RSP, -64), zmm(2));
    for (int run = 0; run < 8; run++) {
      int part = run / 4;
      int inPart = run % 4;
      for (int i = 0; i < 2; i++) {
        Vec low = zmm(4 + i + 2 * (inPart % 2));
        if (inPart < 2) {
          a.op(VPMOVZXBD, low, at(R10, 64 * part + 32 * inPart + 16 * i));
        } else {
          a.op(VPSRLD_IMM, low, low, 4);
        }
        Vec upper = zmm(8 + i);
        if (inPart == 0) {
          a.op(VPMOVZXBD, upper, at(R10, 128 + 32 * part + 16 * i));
        }
        // Two bits, moved to the fifth and sixth place.
        if (inPart < 2) {
          a.op(VPSLLD_IMM, zmm(10), upper, 4 - 2 * inPart);
        } else if (inPart == 3) {
          a.op(VPSRLD_IMM, zmm(10), upper, 2);
        }
        Vec shifted = inPart == 2 ? upper : zmm(10);
        a.op(VPANDD, zmm(i), low, NIBBLE);
        a.op(VPTERNLOGD, zmm(i), shifted, UPPER_BITS, OR_OF_AND);
        a.op(VCVTDQ2PS, zmm(i), zmm(i));
        a.op(VADDPS, zmm(i), zmm(i), EXCESS);
        a.broadcast(VMULPS, zmm(i), zmm(i), at(RSP, -64 + Float.BYTES * (2 * run + i)));
      }
      store(run);
    }
  }
}
