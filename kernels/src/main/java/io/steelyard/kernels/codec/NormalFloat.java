package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.FLOAT;
import static io.steelyard.kernels.codec.Stored.unsigned;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * NF4: 16 levels that are quantiles of a normal distribution, times the largest magnitude of 64
 * values. Of a byte the high nibble is of the value with even index.
 *
 * <p>Double quantisation: the largest magnitudes, less their mean over the tensor, are stored as
 * bytes that name the 256 values of a dynamic map, times the largest of each 256 of them.
 *
 * <p>Source: Dettmers and others, "QLoRA: Efficient Finetuning of Quantized LLMs" (2023), and
 * Dettmers, "8-Bit Approximations for Parallelism in Deep Learning" (2016) for the dynamic map.
 */
public final class NormalFloat {
  private static final int SIZE = 64;

  private static final float[] LEVELS = {
    -1f,
    -0.6961928f,
    -0.52507305f,
    -0.3949175f,
    -0.28444138f,
    -0.18477343f,
    -0.091050036f,
    0f,
    0.0795803f,
    0.1609302f,
    0.2461123f,
    0.33791524f,
    0.44070983f,
    0.562617f,
    0.72295684f,
    1f
  };

  private static final float[] DYNAMIC = dynamic();

  private NormalFloat() {}

  /** The 16 levels, from -1 to 1. */
  public static float[] levels() {
    return LEVELS.clone();
  }

  /** The 256 values of the dynamic map, from the least up. */
  public static float[] dynamicMap() {
    return DYNAMIC.clone();
  }

  /**
   * Each power of ten from 1e-6 to 1 is divided twice as finely as the one below; the values are
   * the middles of its parts, with both signs; and 0 and 1.
   */
  private static float[] dynamic() {
    float[] map = new float[256];
    int n = 0;
    for (int decade = 0; decade < 7; decade++) {
      int parts = 1 << decade;
      double power = Math.pow(10, decade - 6);
      for (int i = 0; i < parts; i++) {
        float middle = (float) (power * (0.1 + 0.9 * (i + 0.5) / parts));
        map[n++] = middle;
        map[n++] = -middle;
      }
    }
    map[n++] = 0;
    map[n] = 1;
    Arrays.sort(map);
    return map;
  }

  /** Layout: largest magnitude (f32), 32 bytes of nibbles. */
  static void decode(MemorySegment from, long offset, float[] to, int at) {
    levels(from, offset + 4, from.get(FLOAT, offset), to, at);
  }

  /** Layout: a byte that names the largest magnitude, 32 bytes of nibbles. */
  static void decodeNested(MemorySegment from, long offset, float[] to, int at) {
    levels(from, offset + 1, DYNAMIC[unsigned(from, offset)], to, at);
  }

  static void decodeNested(Tensor tensor, long row, int column, int count, float[] to) {
    for (int i = 0; i < count; i += SIZE) {
      long block = row * (tensor.columns() / SIZE) + (column + i) / SIZE;
      long offset = block * DataType.NF4_DQ.blockBytes();
      levels(tensor.data(), offset + 1, largest(tensor, block), to, i);
    }
  }

  /** The largest magnitude of a block of a doubly quantised tensor. */
  public static float largest(Tensor tensor, long block) {
    int code = unsigned(tensor.data(), block * DataType.NF4_DQ.blockBytes());
    float scale = tensor.beside(1 + block / Tensor.NESTED_BLOCKS);
    return DYNAMIC[code] * scale + tensor.beside(0);
  }

  private static void levels(MemorySegment from, long pairs, float largest, float[] to, int at) {
    for (int i = 0; i < SIZE; i += 2) {
      int pair = unsigned(from, pairs + i / 2);
      to[at + i] = LEVELS[pair >> 4] * largest;
      to[at + i + 1] = LEVELS[pair & 0xF] * largest;
    }
  }

  /** Writes a block: see {@link #decode}. */
  static void encode(float[] values, int from, MemorySegment to, long offset) {
    float largest = Math.abs(Fit.extreme(values, from, SIZE));
    to.set(FLOAT, offset, largest);
    putLevels(values, from, largest, to, offset + 4);
  }

  /**
   * Writes a block: see {@link #largest}.
   *
   * @param offset the mean of all blocks' largest magnitudes
   * @param scale the largest distance to it of the 256 blocks that this one is among
   */
  static void encodeNested(
      float[] values, int from, float offset, float scale, MemorySegment to, long at) {
    float largest = Math.abs(Fit.extreme(values, from, SIZE));
    int code = nearest(DYNAMIC, scale == 0 ? 0 : (largest - offset) / scale);
    to.set(ValueLayout.JAVA_BYTE, at, (byte) code);
    // Levels are those nearest with the exact magnitude, as the scheme is defined.
    putLevels(values, from, largest, to, at + 1);
  }

  private static void putLevels(
      float[] values, int from, float largest, MemorySegment to, long at) {
    for (int i = 0; i < SIZE; i += 2) {
      int high = largest == 0 ? 7 : nearest(LEVELS, values[from + i] / largest);
      int low = largest == 0 ? 7 : nearest(LEVELS, values[from + i + 1] / largest);
      to.set(ValueLayout.JAVA_BYTE, at + i / 2, (byte) (high << 4 | low));
    }
  }

  /** The index of the nearest of ascending levels; of two that are equally near, the lower. */
  private static int nearest(float[] levels, float value) {
    int found = Arrays.binarySearch(levels, value);
    if (found >= 0) {
      return found;
    }
    int above = -found - 1;
    if (above == 0 || above == levels.length) {
      return above == 0 ? 0 : levels.length - 1;
    }
    double down = (double) value - levels[above - 1];
    double up = (double) levels[above] - value;
    return down <= up ? above - 1 : above;
  }
}
