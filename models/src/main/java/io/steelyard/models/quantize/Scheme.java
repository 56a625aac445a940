package io.steelyard.models.quantize;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.codec.Encoder;
import io.steelyard.models.NearMatch;
import io.steelyard.models.UnknownNameException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/** What a person asks for: one type for all matrices, or a mix of llama.cpp's quantiser. */
public final class Scheme {
  private static final Map<String, Scheme> ALL = schemes();
  private static final Map<String, String> OTHER_NAMES =
      Map.of(
          "q3_k",
          "q3_k_m",
          "q4_k",
          "q4_k_m",
          "q5_k",
          "q5_k_m",
          "2:4",
          "f16_2of4",
          "int8",
          "int8_tensor",
          "fp8",
          "fp8_e4m3",
          "int4",
          "q4_0");

  private final String name;
  private final DataType usual;
  private final Optional<Mix> mix;
  private final boolean pure;

  private Scheme(String name, DataType usual, Optional<Mix> mix, boolean pure) {
    this.name = name;
    this.usual = usual;
    this.mix = mix;
    this.pure = pure;
  }

  private static Map<String, Scheme> schemes() {
    Map<String, Scheme> all = new LinkedHashMap<>();
    for (Mix mix : Mix.values()) {
      String name = mix.name().toLowerCase(Locale.ROOT);
      all.put(name, new Scheme(name, mix.usual(), Optional.of(mix), false));
    }
    for (DataType type : DataType.values()) {
      String name = type.name().toLowerCase(Locale.ROOT);
      if (Encoder.types().contains(type) && type != DataType.F64) {
        all.putIfAbsent(name, new Scheme(name, type, Optional.empty(), false));
      }
    }
    return all;
  }

  /**
   * The scheme of a name, in capitals or not, with dashes or underscores.
   *
   * @throws UnknownNameException if there is none; the message names near ones, or all
   */
  public static Scheme of(String name) {
    String plain = name.toLowerCase(Locale.ROOT).replace('-', '_');
    Scheme scheme = ALL.get(OTHER_NAMES.getOrDefault(plain, plain));
    if (scheme != null) {
      return scheme;
    }
    List<String> near =
        ALL.keySet().stream()
            .filter(known -> known.startsWith(plain) || NearMatch.isNear(plain, known))
            .toList();
    throw new UnknownNameException(
        near.isEmpty()
            ? "there is no type '%s'; types are %s".formatted(name, names())
            : "there is no type '%s'; near it are %s".formatted(name, String.join(", ", near)));
  }

  /** One type for all matrices. */
  public static Scheme pure(DataType type) {
    return new Scheme(type.name().toLowerCase(Locale.ROOT), type, Optional.empty(), true);
  }

  /** The same without more bits for some matrices. */
  public Scheme pure() {
    return pure(usual);
  }

  /** All names, for messages. */
  public static String names() {
    return String.join(", ", ALL.keySet());
  }

  /** The name, in small letters. */
  public String name() {
    return name;
  }

  /** The type of most matrices. */
  public DataType usual() {
    return usual;
  }

  /** What llama.cpp calls a file of this kind; nothing for those that it doesn't know. */
  public OptionalInt fileType() {
    if (mix.isPresent()) {
      return OptionalInt.of(mix.get().fileType());
    }
    return Arrays.stream(Mix.values())
        .filter(each -> each.usual() == usual)
        .mapToInt(Mix::fileType)
        .findFirst();
  }

  /**
   * The type of a matrix of whose columns' importance nothing is known.
   *
   * @param tensor its name in a GGUF file
   * @param columns width of its rows
   * @param shape of its model
   * @param tied whether the model's embeddings give the logits, too
   */
  public DataType type(String tensor, long columns, ModelShape shape, boolean tied) {
    return fitting(type(MatrixRole.of(tensor, tied), shape, false), columns);
  }

  /** The type of a matrix, before its width is looked at. */
  DataType type(MatrixRole role, ModelShape shape, boolean importance) {
    if (mix.isPresent()) {
      return mix.get().type(role, shape, importance);
    }
    // As such models are published: the scheme is for the layers.
    boolean layersOnly = usual == DataType.MXFP4 || usual == DataType.NVFP4;
    boolean inLayer =
        role.kind() != MatrixRole.Kind.OUTPUT && role.kind() != MatrixRole.Kind.EMBEDDING;
    return pure || inLayer || !layersOnly ? usual : DataType.Q8_0;
  }

  /**
   * The type that rows of a width can have: this one, or what llama.cpp's quantiser takes instead;
   * for Steelyard's own types one of the same kind with smaller groups.
   */
  static DataType fitting(DataType type, long columns) {
    DataType fitting = type;
    while (columns % fitting.blockSize() != 0) {
      fitting =
          switch (fitting) {
            case Q2_K, Q3_K -> DataType.Q4_0;
            case IQ4_XS -> DataType.IQ4_NL;
            case Q4_K -> DataType.Q5_0;
            case Q5_K -> DataType.Q5_1;
            case Q6_K -> DataType.Q8_0;
            case INT8_G128 -> DataType.INT8_G64;
            case INT8_G64 -> DataType.INT8_G32;
            case INT8_G32 -> DataType.INT8_ROW;
            case NVFP4 -> DataType.MXFP4;
            default -> DataType.F16;
          };
    }
    return fitting;
  }

  @Override
  public String toString() {
    return name;
  }

  /** A sentence for each of Steelyard's own types among some. */
  static List<String> descriptions(List<DataType> types) {
    return types.stream()
        .filter(type -> !type.isGgml())
        .distinct()
        .sorted()
        .map(type -> "%d %s: %s".formatted(type.id(), type, description(type)))
        .collect(Collectors.toList());
  }

  private static String description(DataType type) {
    return switch (type) {
      case INT8_TENSOR -> "int8 values, times the float32 in NAME.scale, one a matrix";
      case INT8_ROW -> "int8 values, times the float32 in NAME.scale, one a row";
      case INT8_G32, INT8_G64, INT8_G128 ->
          "blocks of a float32 scale and %d int8 values".formatted(type.blockSize());
      case NF4 ->
          "blocks of a float32 largest magnitude and 64 nibbles that name NF4's levels, the value"
              + " of even index in the high one";
      case NF4_DQ ->
          "blocks of a byte and 64 nibbles as of NF4; the largest magnitude is QLoRA's dynamic map"
              + " at the byte, times NAME.scale[1 + block / 256], plus NAME.scale[0]";
      case FP8_E4M3 -> "E4M3 floats (largest 448), times the float32 in NAME.scale";
      case FP8_E5M2 -> "E5M2 floats (largest 57344), times the float32 in NAME.scale";
      case FP4 ->
          "blocks of a float32 scale and 64 nibbles of E2M1, the value of even index in the high"
              + " one";
      case F16_2OF4 ->
          "blocks of 32 values: 16 float16, two of each 4 values, and 32 bits, two for the place"
              + " of each in its four";
      default -> throw new IllegalArgumentException(type + " is ggml's");
    };
  }
}
