package io.steelyard.models.quantize;

import io.steelyard.kernels.DataType;

/**
 * The mixes of llama.cpp's quantiser: most matrices have one type, those that matter more have more
 * bits.
 *
 * <p>Source: {@code llama_tensor_get_type} in llama.cpp's {@code llama-quant.cpp}.
 */
enum Mix {
  F32(0, DataType.F32),
  F16(1, DataType.F16),
  BF16(32, DataType.BF16),
  Q8_0(7, DataType.Q8_0),
  Q4_0(2, DataType.Q4_0),
  Q4_1(3, DataType.Q4_1),
  Q5_0(8, DataType.Q5_0),
  Q5_1(9, DataType.Q5_1),
  Q2_K(10, DataType.Q2_K),
  Q2_K_S(21, DataType.Q2_K),
  Q3_K_S(11, DataType.Q3_K),
  Q3_K_M(12, DataType.Q3_K),
  Q3_K_L(13, DataType.Q3_K),
  Q4_K_S(14, DataType.Q4_K),
  Q4_K_M(15, DataType.Q4_K),
  Q5_K_S(16, DataType.Q5_K),
  Q5_K_M(17, DataType.Q5_K),
  Q6_K(18, DataType.Q6_K),
  IQ4_NL(25, DataType.IQ4_NL),
  IQ4_XS(30, DataType.IQ4_XS);

  private final int fileType;
  private final DataType usual;

  Mix(int fileType, DataType usual) {
    this.fileType = fileType;
    this.usual = usual;
  }

  /** The number in {@code general.file_type}: {@code llama_ftype} in llama.cpp. */
  int fileType() {
    return fileType;
  }

  /** The type of most matrices. */
  DataType usual() {
    return usual;
  }

  /** The type of a matrix, before its width is looked at. */
  DataType type(MatrixRole role, ModelShape shape, boolean importance) {
    if (usual.blockSize() == 1) {
      return usual;
    }
    int layer = role.layer();
    return switch (role.kind()) {
      case OUTPUT -> usual == DataType.Q8_0 ? DataType.Q8_0 : DataType.Q6_K;
      case EMBEDDING, OTHER -> usual;
      case VALUES -> values(layer, shape);
      case KEYS -> shape.experts() == 8 ? DataType.Q8_0 : usual;
      case DOWN -> down(layer, shape, importance);
      case ATTENTION_OUTPUT -> attentionOutput(shape);
      case FUSED_ATTENTION ->
          switch (this) {
            case Q3_K_M, Q3_K_L -> DataType.Q4_K;
            case Q4_K_M -> DataType.Q5_K;
            case Q5_K_M -> DataType.Q6_K;
            default -> usual;
          };
    };
  }

  private DataType values(int layer, ModelShape shape) {
    boolean shared = shape.queriesPerKey() >= 4;
    if (shape.experts() == 8) {
      return DataType.Q8_0;
    }
    DataType type =
        switch (this) {
          case Q2_K -> shared ? DataType.Q4_K : DataType.Q3_K;
          case Q2_K_S -> shared ? DataType.Q4_K : usual;
          case Q3_K_M -> layer < 2 ? DataType.Q5_K : DataType.Q4_K;
          case Q3_K_L -> DataType.Q5_K;
          case IQ4_NL, IQ4_XS -> shared ? DataType.Q5_K : usual;
          case Q4_K_M, Q5_K_M -> shape.getsMoreBits(layer) ? DataType.Q6_K : usual;
          case Q4_K_S -> layer < 4 ? DataType.Q5_K : usual;
          default -> usual;
        };
    // Eight heads share these in Llama's 70B: they are few.
    boolean few = type == DataType.Q3_K || type == DataType.Q4_K;
    return few && shape.isLlama70B() ? DataType.Q5_K : type;
  }

  private DataType down(int layer, ModelShape shape, boolean importance) {
    boolean first = layer < shape.layers() / 8;
    return switch (this) {
      case Q2_K -> DataType.Q3_K;
      case Q2_K_S -> first ? DataType.Q4_K : usual;
      case Q3_K_M -> layer < shape.layers() / 16 ? DataType.Q5_K : DataType.Q4_K;
      case Q3_K_L -> DataType.Q5_K;
      case Q4_K_M, Q5_K_M -> shape.getsMoreBits(layer) ? DataType.Q6_K : usual;
      case Q4_K_S -> first ? DataType.Q5_K : usual;
      case IQ4_NL, IQ4_XS -> first && !importance ? DataType.Q5_K : usual;
      case Q4_0 -> first && importance ? DataType.Q4_1 : usual;
      case Q5_0 -> first && importance ? DataType.Q5_1 : usual;
      default -> usual;
    };
  }

  private DataType attentionOutput(ModelShape shape) {
    if (shape.experts() == 8) {
      return switch (this) {
        case Q2_K, Q3_K_S, Q3_K_M, Q4_K_S, Q4_K_M, IQ4_NL, IQ4_XS -> DataType.Q5_K;
        default -> usual;
      };
    }
    return switch (this) {
      case Q2_K -> DataType.Q3_K;
      case Q3_K_M -> DataType.Q4_K;
      case Q3_K_L -> DataType.Q5_K;
      default -> usual;
    };
  }
}
