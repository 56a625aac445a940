package io.steelyard.models.synth;

import io.steelyard.kernels.DataType;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Which type each matrix of a random model has, under the name that model files carry.
 *
 * <p>F16, BF16, Q8_0 and Q4_0 are that type throughout. Q4_K_M, Q5_K_M and Q6_K follow llama.cpp's
 * quantiser for models of the shapes here: the matrix that gives logits, which is the embedding
 * where the two are one, and, in about half of the layers, {@code attn_v} and {@code ffn_down} have
 * more bits than the rest.
 *
 * <p>Rows whose width is no multiple of 256 can't have a K type. llama.cpp then gives them Q5_0
 * instead of Q4_K, Q5_1 instead of Q5_K, and Q8_0 instead of Q6_K. Here all three become Q8_0, so
 * that such a model is larger than llama.cpp's.
 *
 * <p>Source: {@code llama_tensor_get_type} in llama.cpp's {@code llama-quant.cpp}.
 */
public enum PrecisionMix {
  /** All matrices F16. */
  F16(1, DataType.F16, DataType.F16),
  /** All matrices BF16. */
  BF16(32, DataType.BF16, DataType.BF16),
  /** All matrices Q8_0. */
  Q8_0(7, DataType.Q8_0, DataType.Q8_0),
  /** All matrices Q4_0, the output too, which llama.cpp's quantiser would give Q6_K. */
  Q4_0(2, DataType.Q4_0, DataType.Q4_0),
  /** Q4_K, with Q6_K where more bits help most. */
  Q4_K_M(15, DataType.Q4_K, DataType.Q6_K),
  /** Q5_K, with Q6_K where more bits help most. */
  Q5_K_M(17, DataType.Q5_K, DataType.Q6_K),
  /** All matrices Q6_K. */
  Q6_K(18, DataType.Q6_K, DataType.Q6_K);

  private static final int K_BLOCK = 256;

  private final int fileType;
  private final DataType usual;
  private final DataType finer;

  PrecisionMix(int fileType, DataType usual, DataType finer) {
    this.fileType = fileType;
    this.usual = usual;
    this.finer = finer;
  }

  /** The number in {@code general.file_type} ({@code llama_ftype} in llama.cpp). */
  public int fileType() {
    return fileType;
  }

  /** Type of the matrices that the other methods don't speak of, with rows of this width. */
  DataType usual(int columns) {
    return fitting(usual, columns);
  }

  /** Type of the matrix that gives logits, with rows of this width. */
  DataType output(int columns) {
    return fitting(finer, columns);
  }

  /**
   * Type of {@code attn_v} and {@code ffn_down}.
   *
   * @param columns width of a row
   * @param layer of the matrix, from 0
   * @param layers of the model
   */
  DataType sensitive(int columns, int layer, int layers) {
    return fitting(getsMoreBits(layer, layers) ? finer : usual, columns);
  }

  /** The first eighth of the layers, the last, and every third between them. */
  private static boolean getsMoreBits(int layer, int layers) {
    int eighth = layers / 8;
    return layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2;
  }

  private static DataType fitting(DataType type, int columns) {
    return type.blockSize() == K_BLOCK && columns % K_BLOCK != 0 ? DataType.Q8_0 : type;
  }

  /** All names, for messages. */
  static String names() {
    return Arrays.stream(values()).map(Enum::name).collect(Collectors.joining(", "));
  }
}
