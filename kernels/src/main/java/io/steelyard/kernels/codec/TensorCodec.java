package io.steelyard.kernels.codec;

import io.steelyard.kernels.DataType.Scaling;
import io.steelyard.kernels.Tensor;

/**
 * Decodes rows of tensors to float32: what {@link Codec} makes of their blocks, and what lies
 * beside these.
 */
public final class TensorCodec {
  private TensorCodec() {}

  /** Decodes a row into {@code to[0 …]}. */
  public static void decode(Tensor tensor, long row, float[] to) {
    decode(tensor, row, 0, (int) tensor.columns(), to);
  }

  /**
   * Decodes a part of a row into {@code to[0 …]}.
   *
   * @param column of the first value, a multiple of the type's block size
   * @param count values, a multiple of the type's block size
   */
  public static void decode(Tensor tensor, long row, int column, int count, float[] to) {
    if (tensor.type().scaling() == Scaling.NESTED) {
      NormalFloat.decodeNested(tensor, row, column, count, to);
      return;
    }
    long offset = row * tensor.rowBytes() + tensor.type().bytes(column);
    Codec.of(tensor.type()).decode(tensor.data(), offset, to, 0, count);
    float scale = tensor.scale(row);
    for (int i = 0; scale != 1 && i < count; i++) {
      to[i] *= scale;
    }
  }
}
