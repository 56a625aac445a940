package io.steelyard.kernels;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * The vector tier's alphabet: loads, stores and conversions at machine addresses.
 *
 * <p>Operators check their operands' sizes once, then work on addresses: a bounds and liveness
 * check in every load would cost as much as the load. Nothing but this package's vector tier may
 * use it.
 */
final class Lanes {
  static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;

  /** Values in a vector: 4, 8 or 16. */
  static final int COUNT = FLOATS.length();

  /** Bytes of a float vector. */
  static final int BYTES = FLOATS.vectorByteSize();

  private static final boolean NARROW = COUNT == 4;
  private static final VectorSpecies<Byte> PACKED_BYTES =
      NARROW
          ? ByteVector.SPECIES_64
          : VectorSpecies.of(byte.class, VectorShape.forBitSize(COUNT * Byte.SIZE));
  private static final VectorSpecies<Short> PACKED_SHORTS =
      VectorSpecies.of(short.class, VectorShape.forBitSize(COUNT * Short.SIZE));
  private static final IntVector BYTE_SHIFTS = IntVector.zero(INTS).addIndex(Byte.SIZE);

  /** All memory: the operators' own checks stand for the segment's. */
  static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ORDER);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ORDER);
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ORDER);

  /** 2^112: moves a half's exponent, shifted into a float's place, to the float's bias. */
  private static final float HALF_BIAS = 0x1p112f;

  private Lanes() {}

  static FloatVector load(long address) {
    return FloatVector.fromMemorySegment(FLOATS, ALL, address, ORDER);
  }

  static void store(long address, FloatVector vector) {
    vector.intoMemorySegment(ALL, address, ORDER);
  }

  static IntVector ints(long address) {
    return IntVector.fromMemorySegment(INTS, ALL, address, ORDER);
  }

  static FloatVector broadcast(long address) {
    return FloatVector.broadcast(FLOATS, ALL.get(FLOAT, address));
  }

  static float scalar(long address) {
    return ALL.get(FLOAT, address);
  }

  static void put(long address, float value) {
    ALL.set(FLOAT, address, value);
  }

  static float half(long address) {
    return Float.float16ToFloat(ALL.get(SHORT, address));
  }

  static void putHalf(long address, float value) {
    ALL.set(SHORT, address, Float.floatToFloat16(value));
  }

  static short bits16(long address) {
    return ALL.get(SHORT, address);
  }

  static int signedByte(long address) {
    return ALL.get(ValueLayout.JAVA_BYTE, address);
  }

  static int bits32(long address) {
    return ALL.get(INT, address);
  }

  static void putByte(long address, int value) {
    ALL.set(ValueLayout.JAVA_BYTE, address, (byte) value);
  }

  static int unsignedByte(long address) {
    return ALL.get(ValueLayout.JAVA_BYTE, address) & 0xFF;
  }

  /** Loads {@link #COUNT} bytes, each widened with its sign. */
  static IntVector signedBytes(long address) {
    if (NARROW) {
      // A vector of four bytes does not exist: spread one word over the lanes.
      IntVector word = IntVector.broadcast(INTS, ALL.get(INT, address));
      return word.lanewise(VectorOperators.LSHR, BYTE_SHIFTS)
          .lanewise(VectorOperators.LSHL, 24)
          .lanewise(VectorOperators.ASHR, 24);
    }
    return (IntVector)
        ByteVector.fromMemorySegment(PACKED_BYTES, ALL, address, ORDER)
            .convertShape(VectorOperators.B2I, INTS, 0);
  }

  /** Loads {@link #COUNT} bytes, each widened with zeros. */
  static IntVector unsignedBytes(long address) {
    if (NARROW) {
      IntVector word = IntVector.broadcast(INTS, ALL.get(INT, address));
      return word.lanewise(VectorOperators.LSHR, BYTE_SHIFTS).and(0xFF);
    }
    return (IntVector)
        ByteVector.fromMemorySegment(PACKED_BYTES, ALL, address, ORDER)
            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
  }

  /** The levels that 16 nibbles may name. */
  static ByteVector levels(byte[] levels) {
    return ByteVector.fromArray(ByteVector.SPECIES_128, levels, 0);
  }

  /**
   * Writes the levels that the low or the high nibbles of 16 bytes name, as bytes.
   *
   * @param shift 0 for the low ones, 4 for the high ones
   */
  static void putLevels(ByteVector levels, long pairs, int shift, long to) {
    ByteVector packed = ByteVector.fromMemorySegment(ByteVector.SPECIES_128, ALL, pairs, ORDER);
    ByteVector nibbles = packed.lanewise(VectorOperators.LSHR, shift).and((byte) 0xF);
    nibbles.selectFrom(levels).intoMemorySegment(ALL, to, ORDER);
  }

  static FloatVector toFloat(IntVector ints) {
    return (FloatVector) ints.convertShape(VectorOperators.I2F, FLOATS, 0);
  }

  /**
   * Loads {@link #COUNT} halves. Exact for all finite halves, subnormal ones too: the exponent is
   * moved by an exact multiplication.
   */
  static FloatVector halves(long address) {
    IntVector bits =
        (IntVector)
            ShortVector.fromMemorySegment(PACKED_SHORTS, ALL, address, ORDER)
                .convertShape(VectorOperators.S2I, INTS, 0);
    return bits.lanewise(VectorOperators.LSHL, 13)
        .and(0x8FFFE000)
        .reinterpretAsFloats()
        .mul(HALF_BIAS);
  }

  /** Loads {@link #COUNT} bfloat16 values. */
  static FloatVector brainFloats(long address) {
    IntVector bits =
        (IntVector)
            ShortVector.fromMemorySegment(PACKED_SHORTS, ALL, address, ORDER)
                .convertShape(VectorOperators.S2I, INTS, 0);
    return bits.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
  }

  /** e^x for x up to 88; 0 below -87. Relative error at most 2e-7 (Cephes' polynomial). */
  static FloatVector exp(FloatVector x) {
    FloatVector bounded = x.max(-87f).min(88f);
    // Adding 1.5 × 2^23 rounds to an integer, which then stands in the low bits.
    FloatVector shifted = bounded.mul(1.442695f).add(0x1.8p23f);
    FloatVector n = shifted.sub(0x1.8p23f);
    FloatVector r = n.fma(broadcastOf(-0x1.63p-1f), bounded);
    r = n.fma(broadcastOf(2.1219444e-4f), r);
    FloatVector p = broadcastOf(1.9875691e-4f);
    p = p.fma(r, broadcastOf(1.3981999e-3f));
    p = p.fma(r, broadcastOf(8.333452e-3f));
    p = p.fma(r, broadcastOf(4.1665796e-2f));
    p = p.fma(r, broadcastOf(0.16666666f));
    p = p.fma(r, broadcastOf(0.5f));
    p = p.fma(r.mul(r), r).add(1f);
    IntVector exponent = shifted.reinterpretAsInts().lanewise(VectorOperators.LSHL, 23);
    FloatVector result = p.reinterpretAsInts().add(exponent).reinterpretAsFloats();
    return result.blend(0f, x.compare(VectorOperators.LT, -87f));
  }

  /**
   * Sums a vector's lanes, always in the same order. {@code reduceLanes} leaves the order open, and
   * compiled code takes another one than interpreted code does.
   *
   * @param scratch address of {@link #BYTES} bytes
   */
  static float sum(FloatVector vector, long scratch) {
    store(scratch, vector);
    float a = scalar(scratch);
    float b = scalar(scratch + 4);
    float c = scalar(scratch + 8);
    float d = scalar(scratch + 12);
    for (int i = 4; i < COUNT; i += 4) {
      a += scalar(scratch + 4L * i);
      b += scalar(scratch + 4L * i + 4);
      c += scalar(scratch + 4L * i + 8);
      d += scalar(scratch + 4L * i + 12);
    }
    return (a + b) + (c + d);
  }

  static FloatVector broadcastOf(float value) {
    return FloatVector.broadcast(FLOATS, value);
  }
}
