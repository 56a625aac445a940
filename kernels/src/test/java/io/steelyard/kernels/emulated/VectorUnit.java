package io.steelyard.kernels.emulated;

import static io.steelyard.kernels.emulated.Packed.byteOf;
import static io.steelyard.kernels.emulated.Packed.setByte;
import static io.steelyard.kernels.emulated.Packed.setWord;
import static io.steelyard.kernels.emulated.Packed.wordOf;
import static java.lang.Float.floatToRawIntBits;
import static java.lang.Float.intBitsToFloat;

import io.steelyard.kernels.assembler.Instruction.Vector;
import io.steelyard.kernels.assembler.Op;
import java.util.Arrays;
import java.util.function.IntBinaryOperator;
import java.util.function.IntUnaryOperator;

/**
 * Carries out the instructions of {@link Op}. A result is computed for all elements, then written
 * where the mask selects them.
 *
 * <p>Source: Intel Software Developer's Manual, volume 2.
 */
final class VectorUnit {
  private final Registers registers;
  private final int[] read = new int[16];
  private final int[] result = new int[16];

  // Of the instruction in progress: the destination as it was, the sources, and lanes of 32 bits.
  private int[] to;
  private int[] a;
  private int[] b;
  private int lanes;

  private interface FloatOperator {
    float apply(float a, float b);
  }

  VectorUnit(Registers registers) {
    this.registers = registers;
  }

  void run(Vector i) {
    lanes = i.bytes() / Integer.BYTES;
    to = registers.vectors[i.to()];
    a = registers.vectors[i.a()];
    b = i.place().isPresent() && !i.store() ? read(i) : registers.vectors[i.b()];
    Arrays.fill(result, 0);
    compute(i);
    if (i.op() == Op.VMASKMOVPS_STORE) {
      storeBySigns(registers.address(i.place().orElseThrow()));
    } else if (i.store()) {
      store(i);
    } else {
      write(i);
    }
  }

  private void compute(Vector i) {
    int immediate = i.immediate();
    switch (i.op()) {
      case VMOVUPS, VMOVUPS_STORE, VMOVDQU32, VMOVDQU32_STORE, VMOVDQU16, VMOVDQU, VMOVDQU_STORE ->
          System.arraycopy(b, 0, result, 0, lanes);
      case VMOVSS, VMOVSS_STORE -> result[0] = b[0];
      case VMASKMOVPS -> lanes((x, y) -> x < 0 ? y : 0);
      case VMASKMOVPS_STORE -> {}
      case VPEXTRB_STORE -> result[0] = byteOf(b, immediate & 15);
      case VPEXTRW_STORE -> result[0] = wordOf(b, immediate & 7);
      case VPEXTRD_STORE -> result[0] = b[immediate & 3];
      case VBROADCASTSS, VPBROADCASTD -> Arrays.fill(result, 0, lanes, b[0]);
      case VPBROADCASTB -> Arrays.fill(result, 0, lanes, (b[0] & 0xFF) * 0x101_0101);
      case VPBROADCASTW -> Arrays.fill(result, 0, lanes, (b[0] & 0xFFFF) * 0x1_0001);
      case VBROADCASTI32X4, VBROADCASTI128 -> repeat(4);
      case VBROADCASTI64X4 -> repeat(8);
      case VINSERTI128, VINSERTI64X4 -> {
        System.arraycopy(a, 0, result, 0, lanes);
        System.arraycopy(b, 0, result, (immediate & 1) * lanes / 2, lanes / 2);
      }
      case VEXTRACTF128, VEXTRACTF64X4 ->
          System.arraycopy(b, (immediate & 1) * lanes / 2, result, 0, lanes / 2);

      case VADDPS -> floats((x, y) -> x + y);
      case VSUBPS -> floats((x, y) -> x - y);
      case VMULPS -> floats((x, y) -> x * y);
      case VDIVPS -> floats((x, y) -> x / y);
      // Of zeros, and where one is no number, the second.
      case VMINPS -> floats((x, y) -> x < y ? x : y);
      case VMAXPS -> floats((x, y) -> x > y ? x : y);
      case VADDSS -> single(a, value(a) + value(b));
      case VMULSS -> single(a, value(a) * value(b));
      case VDIVSS -> single(a, value(a) / value(b));
      case VMAXSS -> single(a, value(a) > value(b) ? value(a) : value(b));
      case VSQRTSS -> single(a, (float) Math.sqrt(value(b)));
      case VFMADD231SS -> single(to, Math.fma(value(a), value(b), value(to)));
      case VFMADD213PS -> multiplyAdd(a, to, b, 1);
      case VFMADD231PS -> multiplyAdd(a, b, to, 1);
      case VFNMADD231PS -> multiplyAdd(a, b, to, -1);
      case VRNDSCALEPS -> each(x -> floatToRawIntBits(rounded(intBitsToFloat(x), immediate)));
      case VSCALEFPS -> floats(VectorUnit::scaled);

      case VCVTDQ2PS -> each(x -> floatToRawIntBits((float) x));
      case VCVTPS2DQ -> each(x -> whole(Math.rint(intBitsToFloat(x))));
      case VCVTTPS2DQ -> each(x -> whole(intBitsToFloat(x)));
      case VCVTPH2PS -> {
        for (int lane = 0; lane < lanes; lane++) {
          result[lane] = floatToRawIntBits(Float.float16ToFloat((short) wordOf(b, lane)));
        }
      }
      case VCVTPS2PH -> {
        require(i, immediate == 0);
        for (int lane = 0; lane < lanes; lane++) {
          setWord(result, lane, Float.floatToFloat16(intBitsToFloat(b[lane])));
        }
      }
      case VCVTNEPS2BF16 -> {
        for (int lane = 0; lane < lanes; lane++) {
          setWord(result, lane, BFloat16.of(b[lane]));
        }
      }
      case VCVTNE2PS2BF16 -> {
        for (int lane = 0; lane < lanes; lane++) {
          setWord(result, lane, BFloat16.of(b[lane]));
          setWord(result, lanes + lane, BFloat16.of(a[lane]));
        }
      }
      case VPMOVSXBW, VPMOVZXBW -> {
        for (int word = 0; word < 2 * lanes; word++) {
          int value = byteOf(b, word);
          setWord(result, word, i.op() == Op.VPMOVSXBW ? (byte) value : value);
        }
      }
      case VPMOVSXBD, VPMOVZXBD -> {
        for (int lane = 0; lane < lanes; lane++) {
          int value = byteOf(b, lane);
          result[lane] = i.op() == Op.VPMOVSXBD ? (byte) value : value;
        }
      }
      case VPMOVZXWD -> {
        for (int lane = 0; lane < lanes; lane++) {
          result[lane] = wordOf(b, lane);
        }
      }
      case VPACKSSWB -> {
        for (int at = 0; at < 4 * lanes; at++) {
          int[] from = (at & 8) == 0 ? a : b;
          short value = (short) wordOf(from, at / 16 * 8 + at % 8);
          setByte(result, at, Math.clamp(value, Byte.MIN_VALUE, Byte.MAX_VALUE));
        }
      }
      case VPACKSSDW -> {
        for (int at = 0; at < 2 * lanes; at++) {
          int[] from = (at & 4) == 0 ? a : b;
          int value = from[at / 8 * 4 + at % 4];
          setWord(result, at, Math.clamp(value, Short.MIN_VALUE, Short.MAX_VALUE));
        }
      }
      case VPMOVDB -> {
        for (int lane = 0; lane < lanes; lane++) {
          setByte(result, lane, b[lane]);
        }
      }

      case VPSUBB -> {
        for (int at = 0; at < 4 * lanes; at++) {
          setByte(result, at, byteOf(a, at) - byteOf(b, at));
        }
      }
      case VPSIGNB -> {
        for (int at = 0; at < 4 * lanes; at++) {
          setByte(result, at, byteOf(a, at) * Integer.signum((byte) byteOf(b, at)));
        }
      }
      case VPABSB -> {
        for (int at = 0; at < 4 * lanes; at++) {
          setByte(result, at, Math.abs((byte) byteOf(b, at)));
        }
      }
      case VPSUBW -> words((x, y) -> x - y);
      case VPADDW -> words((x, y) -> x + y);
      case VPADDD -> lanes((x, y) -> x + y);
      case VPSUBD -> lanes((x, y) -> x - y);
      case VPSRLVD -> lanes((x, y) -> y >>> 5 == 0 ? x >>> y : 0);
      case VPSRLVW -> words((x, y) -> y < 16 ? x >>> y : 0);
      case VPSLLVW -> words((x, y) -> y < 16 ? x << y : 0);
      case VPTERNLOGD -> ternary(immediate);
      case VPMADDUBSW -> {
        for (int word = 0; word < 2 * lanes; word++) {
          int sum = 0;
          for (int at = 2 * word; at < 2 * word + 2; at++) {
            sum += byteOf(a, at) * (byte) byteOf(b, at);
          }
          setWord(result, word, Math.clamp(sum, Short.MIN_VALUE, Short.MAX_VALUE));
        }
      }
      case VPMADDWD -> lanes(Packed::wordsByWords);
      case VPDPBUSD -> {
        for (int lane = 0; lane < lanes; lane++) {
          result[lane] = to[lane] + Packed.unsignedBySigned(a[lane], b[lane]);
        }
      }
      case VPDPWSSD -> {
        for (int lane = 0; lane < lanes; lane++) {
          result[lane] = to[lane] + Packed.wordsByWords(a[lane], b[lane]);
        }
      }
      case VDPBF16PS -> {
        for (int lane = 0; lane < lanes; lane++) {
          int x = a[lane];
          int y = b[lane];
          float sum = intBitsToFloat(to[lane]);
          sum = BFloat16.fma(BFloat16.high(x), BFloat16.high(y), sum);
          sum = BFloat16.fma(BFloat16.low(x), BFloat16.low(y), sum);
          result[lane] = floatToRawIntBits(sum);
        }
      }
      case VPANDD, VPAND -> lanes((x, y) -> x & y);
      case VPORD, VPOR -> lanes((x, y) -> x | y);
      case VPXORD, VPXOR -> lanes((x, y) -> x ^ y);
      case VPCMPGTD -> lanes((x, y) -> x > y ? -1 : 0);
      case VPCMPEQD -> lanes((x, y) -> x == y ? -1 : 0);
      case VPSRLW_IMM -> eachWord(x -> immediate < 16 ? x >>> immediate : 0);
      case VPSLLW_IMM -> eachWord(x -> immediate < 16 ? x << immediate : 0);
      case VPSRAD_IMM -> each(x -> x >> Math.min(immediate, 31));
      case VPSRLD_IMM -> each(x -> immediate < 32 ? x >>> immediate : 0);
      case VPSLLD_IMM -> each(x -> immediate < 32 ? x << immediate : 0);

      case VPERMILPS -> {
        for (int lane = 0; lane < lanes; lane++) {
          result[lane] = b[(lane & ~3) + (immediate >> (2 * (lane & 3)) & 3)];
        }
      }
      case VPUNPCKLBW -> unpackBytes(0);
      case VPUNPCKHBW -> unpackBytes(8);
      case VPUNPCKLDQ -> unpack(1, 0);
      case VPUNPCKHDQ -> unpack(1, 2);
      case VPUNPCKLQDQ -> unpack(2, 0);
      case VPUNPCKHQDQ -> unpack(2, 2);
      case VSHUFI32X4, VSHUFF32X4 -> {
        int quarters = lanes / 4;
        int bits = quarters / 2;
        for (int quarter = 0; quarter < quarters; quarter++) {
          int from = immediate >> (bits * quarter) & (quarters - 1);
          System.arraycopy(quarter < quarters / 2 ? a : b, 4 * from, result, 4 * quarter, 4);
        }
      }
      case VPSHUFB -> {
        for (int at = 0; at < 4 * lanes; at++) {
          int index = byteOf(b, at);
          setByte(result, at, index < 0x80 ? byteOf(a, (at & ~15) + (index & 15)) : 0);
        }
      }
      case VPERMW -> {
        for (int word = 0; word < 2 * lanes; word++) {
          setWord(result, word, wordOf(b, wordOf(a, word) & (2 * lanes - 1)));
        }
      }
      case VPERMPS -> {
        for (int lane = 0; lane < lanes; lane++) {
          result[lane] = b[a[lane] & (lanes - 1)];
        }
      }
      case VPERMI2PS -> choose(to, a, b);
      case VPERMT2PS -> choose(a, to, b);
      default -> require(i, false);
    }
  }

  // ---- What many instructions do.

  private void each(IntUnaryOperator operator) {
    for (int lane = 0; lane < lanes; lane++) {
      result[lane] = operator.applyAsInt(b[lane]);
    }
  }

  private void lanes(IntBinaryOperator operator) {
    for (int lane = 0; lane < lanes; lane++) {
      result[lane] = operator.applyAsInt(a[lane], b[lane]);
    }
  }

  private void floats(FloatOperator operator) {
    for (int lane = 0; lane < lanes; lane++) {
      float value = operator.apply(intBitsToFloat(a[lane]), intBitsToFloat(b[lane]));
      result[lane] = floatToRawIntBits(value);
    }
  }

  private void eachWord(IntUnaryOperator operator) {
    for (int word = 0; word < 2 * lanes; word++) {
      setWord(result, word, operator.applyAsInt(wordOf(b, word)));
    }
  }

  private void words(IntBinaryOperator operator) {
    for (int word = 0; word < 2 * lanes; word++) {
      setWord(result, word, operator.applyAsInt(wordOf(a, word), wordOf(b, word)));
    }
  }

  private static float value(int[] vector) {
    return intBitsToFloat(vector[0]);
  }

  /** One value, with the rest of the lowest 16 bytes of another vector. */
  private void single(int[] rest, float value) {
    System.arraycopy(rest, 0, result, 0, 4);
    result[0] = floatToRawIntBits(value);
  }

  private void multiplyAdd(int[] x, int[] y, int[] sum, float sign) {
    for (int lane = 0; lane < lanes; lane++) {
      float factor = sign * intBitsToFloat(x[lane]);
      float value = Math.fma(factor, intBitsToFloat(y[lane]), intBitsToFloat(sum[lane]));
      result[lane] = floatToRawIntBits(value);
    }
  }

  /** To a multiple of a power of two, which the upper half of the immediate value says. */
  private static float rounded(float value, int immediate) {
    if (immediate >> 4 != 0) {
      throw new IllegalStateException("VRNDSCALEPS is known for whole numbers only");
    }
    return (float)
        switch (immediate & 7) {
          case 1 -> Math.floor(value);
          case 2 -> Math.ceil(value);
          case 3 -> value < 0 ? Math.ceil(value) : Math.floor(value);
          default -> Math.rint(value);
        };
  }

  /** {@code x · 2^floor(y)}, rounded once: a double holds it exactly before. */
  private static float scaled(float x, float y) {
    if (Float.isNaN(x) || Float.isNaN(y)) {
      return Float.NaN;
    }
    boolean undefined =
        (y == Float.POSITIVE_INFINITY && x == 0)
            || (y == Float.NEGATIVE_INFINITY && Float.isInfinite(x));
    return undefined
        ? Float.NaN
        : (float) Math.scalb((double) x, (int) Math.clamp(Math.floor(y), -400, 400));
  }

  /** Without what follows the point; what doesn't fit becomes the smallest number. */
  private static int whole(double value) {
    return Math.abs(value) < 0x1p31 ? (int) value : Integer.MIN_VALUE;
  }

  private void repeat(int count) {
    for (int lane = 0; lane < lanes; lane++) {
      result[lane] = b[lane % count];
    }
  }

  private void ternary(int table) {
    for (int lane = 0; lane < lanes; lane++) {
      int value = 0;
      for (int row = 0; row < 8; row++) {
        if ((table >> row & 1) == 1) {
          int x = (row & 4) != 0 ? to[lane] : ~to[lane];
          int y = (row & 2) != 0 ? a[lane] : ~a[lane];
          int z = (row & 1) != 0 ? b[lane] : ~b[lane];
          value |= x & y & z;
        }
      }
      result[lane] = value;
    }
  }

  /** Takes units of so many lanes from both sources in turn, in every 16 bytes. */
  private void unpack(int unit, int first) {
    for (int lane = 0; lane < lanes; lane++) {
      int inQuarter = lane & 3;
      int[] from = inQuarter / unit % 2 == 0 ? a : b;
      result[lane] = from[(lane & ~3) + first + inQuarter / (2 * unit) * unit + inQuarter % unit];
    }
  }

  private void unpackBytes(int first) {
    for (int at = 0; at < 4 * lanes; at++) {
      setByte(result, at, byteOf((at & 1) == 0 ? a : b, (at & ~15) + first + (at & 15) / 2));
    }
  }

  private void choose(int[] indices, int[] low, int[] high) {
    for (int lane = 0; lane < lanes; lane++) {
      int index = indices[lane] & (2 * lanes - 1);
      result[lane] = index < lanes ? low[index] : high[index - lanes];
    }
  }

  private static void require(Vector i, boolean known) {
    if (!known) {
      throw new IllegalStateException("this form of an instruction is not known: " + i);
    }
  }

  // ---- Memory and masks.

  /** Bytes of what one bit of a mask selects. */
  private static int element(Op op) {
    return switch (op) {
      case VPBROADCASTB, VPMOVDB, VPSUBB, VPSHUFB, VPACKSSWB, VPUNPCKLBW, VPUNPCKHBW -> 1;
      case VMOVDQU16,
          VPBROADCASTW,
          VCVTPS2PH,
          VCVTNEPS2BF16,
          VCVTNE2PS2BF16,
          VPMOVSXBW,
          VPMOVZXBW,
          VPACKSSDW,
          VPSUBW,
          VPSRLVW,
          VPSLLVW,
          VPSRLW_IMM,
          VPSLLW_IMM,
          VPERMW ->
          2;
      case VBROADCASTI64X4, VINSERTI64X4, VEXTRACTF64X4, VPUNPCKLQDQ, VPUNPCKHQDQ -> 8;
      default -> 4;
    };
  }

  private boolean selected(Vector i, int element) {
    return i.mask() == 0 || (registers.masks[i.mask()] >>> element & 1) == 1;
  }

  /** A source in memory; what a mask leaves out is not touched. */
  private int[] read(Vector i) {
    long address = registers.address(i.place().orElseThrow());
    Arrays.fill(read, 0);
    if (i.op() == Op.VMASKMOVPS) {
      for (int lane = 0; lane < lanes; lane++) {
        read[lane] = a[lane] < 0 ? Memory.getInt(address + 4L * lane) : 0;
      }
    } else if (i.broadcast()) {
      for (int lane = 0; lane < lanes; lane++) {
        read[lane] = Memory.getInt(address + 4L * lane % i.memoryBytes());
      }
    } else if (i.mask() != 0 && i.perElement()) {
      int elements = i.resultBytes() / element(i.op());
      int bytes = i.memoryBytes() / elements;
      for (int at = 0; at < i.memoryBytes(); at++) {
        if (selected(i, at / bytes)) {
          setByte(read, at, Memory.getByte(address + at));
        }
      }
    } else {
      int whole = i.memoryBytes() / Integer.BYTES;
      for (int lane = 0; lane < whole; lane++) {
        read[lane] = Memory.getInt(address + 4L * lane);
      }
      for (int at = whole * Integer.BYTES; at < i.memoryBytes(); at++) {
        setByte(read, at, Memory.getByte(address + at));
      }
    }
    return read;
  }

  private void storeBySigns(long address) {
    for (int lane = 0; lane < lanes; lane++) {
      if (a[lane] < 0) {
        Memory.putInt(address + 4L * lane, to[lane]);
      }
    }
  }

  private void store(Vector i) {
    long address = registers.address(i.place().orElseThrow());
    if (i.mask() == 0 && i.memoryBytes() % Integer.BYTES == 0) {
      for (int lane = 0; lane < i.memoryBytes() / Integer.BYTES; lane++) {
        Memory.putInt(address + 4L * lane, result[lane]);
      }
      return;
    }
    int element = element(i.op());
    for (int at = 0; at < i.memoryBytes(); at++) {
      if (selected(i, at / element)) {
        Memory.putByte(address + at, byteOf(result, at));
      }
    }
  }

  private void write(Vector i) {
    if (i.mask() == 0) {
      System.arraycopy(result, 0, to, 0, 16);
      return;
    }
    int element = element(i.op());
    for (int at = 0; at < i.resultBytes(); at++) {
      if (!selected(i, at / element)) {
        setByte(result, at, i.zeroing() ? 0 : byteOf(to, at));
      }
    }
    System.arraycopy(result, 0, to, 0, 16);
  }
}
