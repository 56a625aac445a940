package io.steelyard.models.precision;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.codec.Encoder;
import io.steelyard.models.UnknownNameException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which type each matrix of a model gets, under the name that model files carry: a type throughout,
 * or one of llama.cpp's mixes, which give {@code attn_v} and {@code ffn_down} of about half the
 * layers, and the matrix of the logits, more bits than the rest.
 *
 * <p>Rows that are no multiple of a type's block get another type of about as many bits, as
 * llama.cpp's quantiser does it. Source: {@code llama_tensor_get_type} in {@code llama-quant.cpp}.
 *
 * @param name in lower case
 * @param usual type of a matrix
 * @param finer type of those that get more bits; the same throughout where there is no mix
 */
public record Precision(String name, DataType usual, DataType finer) {
  private static final List<Precision> MIXES =
      List.of(
          new Precision("q4_k_m", DataType.Q4_K, DataType.Q6_K),
          new Precision("q5_k_m", DataType.Q5_K, DataType.Q6_K));

  /** Of a mixture's router and of learned positions little is saved and much depends. */
  private static final List<String> KEPT = List.of("ffn_gate_inp.weight", "position_embd.weight");

  /**
   * A precision by its name, in whatever case.
   *
   * @throws UnknownNameException listing the names if there is none such
   */
  public static Precision of(String name) {
    return all()
        .filter(precision -> precision.name.equals(name.toLowerCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(
            () ->
                new UnknownNameException(
                    "there is no precision '%s'; precisions are %s".formatted(name, names())));
  }

  /** All names, for messages. */
  public static String names() {
    return all().map(Precision::name).collect(Collectors.joining(", "));
  }

  private static Stream<Precision> all() {
    Stream<Precision> types =
        Arrays.stream(DataType.values())
            .filter(type -> Encoder.types().contains(type) && type != DataType.F64)
            .map(type -> new Precision(type.name().toLowerCase(Locale.ROOT), type, type));
    return Stream.concat(types, MIXES.stream());
  }

  /**
   * The type that a tensor gets.
   *
   * @param layers of the model
   * @param tied whether the embedding gives the logits, too
   */
  public DataType of(Tensor tensor, int layers, boolean tied) {
    String tensorName = tensor.name();
    if (tensor.rows() == 1 || KEPT.stream().anyMatch(tensorName::endsWith)) {
      return tensor.type();
    }
    boolean logits = tensorName.equals(tied ? "token_embd.weight" : "output.weight");
    boolean sensitive =
        tensorName.endsWith("attn_v.weight") || tensorName.endsWith("ffn_down.weight");
    boolean more = logits || (sensitive && getsMoreBits(layer(tensorName), layers));
    return fitting(more ? finer : usual, tensor.columns());
  }

  private static int layer(String tensorName) {
    return Integer.parseInt(tensorName.replaceFirst("blk\\.(\\d{1,6})\\..*", "$1"));
  }

  /** The first eighth of the layers, the last, and every third between them. */
  private static boolean getsMoreBits(int layer, int layers) {
    int eighth = layers / 8;
    return layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2;
  }

  private static DataType fitting(DataType type, long columns) {
    if (columns % type.blockSize() == 0) {
      return type;
    }
    DataType smaller =
        switch (type) {
          case Q2_K, Q3_K -> DataType.IQ4_NL;
          case Q4_K -> DataType.Q5_0;
          case Q5_K -> DataType.Q5_1;
          case Q6_K -> DataType.Q8_0;
          default -> DataType.F16;
        };
    return columns % smaller.blockSize() == 0 ? smaller : DataType.F16;
  }

  /** The number in {@code general.file_type}, where there is one. */
  Optional<Integer> fileType() {
    return switch (name) {
      case "q4_k_m" -> Optional.of(15);
      case "q5_k_m" -> Optional.of(17);
      default -> fileType(usual);
    };
  }

  private static Optional<Integer> fileType(DataType type) {
    return switch (type) {
      case F32 -> Optional.of(0);
      case F16 -> Optional.of(1);
      case Q4_0 -> Optional.of(2);
      case Q4_1 -> Optional.of(3);
      case Q8_0 -> Optional.of(7);
      case Q5_0 -> Optional.of(8);
      case Q5_1 -> Optional.of(9);
      case Q2_K -> Optional.of(10);
      case Q3_K -> Optional.of(11);
      case Q4_K -> Optional.of(14);
      case Q5_K -> Optional.of(16);
      case Q6_K -> Optional.of(18);
      case IQ4_NL -> Optional.of(25);
      case BF16 -> Optional.of(32);
      case MXFP4 -> Optional.of(38);
      default -> Optional.empty();
    };
  }
}
