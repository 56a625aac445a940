package io.steelyard.kernels.codec;

import io.steelyard.kernels.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Decodes one stored type to float32, plainly: the definition that every faster decoder is tested
 * against.
 *
 * <p>The results are those of ggml's {@code to_float}, bit for bit: float32 arithmetic in the same
 * order, without fused multiply-add. Source of the layouts: {@code ggml-common.h} and {@code
 * ggml-quants.c}.
 */
public final class Codec {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Decodes the block at an offset into {@code to[at …]}. */
  @FunctionalInterface
  private interface Block {
    void decode(MemorySegment from, long offset, float[] to, int at);
  }

  private final DataType type;
  private final Block block;

  private Codec(DataType type, Block block) {
    this.type = type;
    this.block = block;
  }

  /** The codec of a type. */
  public static Codec of(DataType type) {
    return new Codec(
        type,
        switch (type) {
          case F32 -> (from, offset, to, at) -> to[at] = from.get(FLOAT, offset);
          case F16 -> (from, offset, to, at) -> to[at] = half(from, offset);
          case BF16 ->
              (from, offset, to, at) ->
                  to[at] = Float.intBitsToFloat(from.get(SHORT, offset) << Short.SIZE);
          case Q8_0 -> Codec::q8Zero;
          case Q4_0 -> Codec::q4Zero;
          case Q4_1 -> Codec::q4One;
          case Q4_K -> KBlocks::q4;
          case Q5_K -> KBlocks::q5;
          case Q6_K -> KBlocks::q6;
        });
  }

  /**
   * Decodes a run of values.
   *
   * @param from holds the blocks
   * @param offset of the first block, in bytes
   * @param to receives {@code count} values from index {@code at} on
   * @param count values, a multiple of the type's block size
   */
  public void decode(MemorySegment from, long offset, float[] to, int at, int count) {
    if (count % type.blockSize() != 0) {
      throw new IllegalArgumentException(
          count + " values are no multiple of " + type + "'s block of " + type.blockSize());
    }
    long source = offset;
    for (int i = 0; i < count; i += type.blockSize()) {
      block.decode(from, source, to, at + i);
      source += type.blockBytes();
    }
  }

  static float half(MemorySegment from, long offset) {
    return Float.float16ToFloat(from.get(SHORT, offset));
  }

  static int unsigned(MemorySegment from, long offset) {
    return from.get(ValueLayout.JAVA_BYTE, offset) & 0xFF;
  }

  private static void q8Zero(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset);
    for (int i = 0; i < 32; i++) {
      to[at + i] = from.get(ValueLayout.JAVA_BYTE, offset + 2 + i) * scale;
    }
  }

  private static void q4Zero(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset);
    for (int i = 0; i < 16; i++) {
      int pair = unsigned(from, offset + 2 + i);
      to[at + i] = ((pair & 0xF) - 8) * scale;
      to[at + 16 + i] = ((pair >> 4) - 8) * scale;
    }
  }

  private static void q4One(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset);
    float minimum = half(from, offset + 2);
    for (int i = 0; i < 16; i++) {
      int pair = unsigned(from, offset + 4 + i);
      to[at + i] = (pair & 0xF) * scale + minimum;
      to[at + 16 + i] = (pair >> 4) * scale + minimum;
    }
  }
}
