package io.steelyard.models.architecture;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Matrix;
import io.steelyard.kernels.Rows;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.codec.TensorCodec;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.gguf.TensorScales;
import io.steelyard.models.gguf.WeightPrecision;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Takes a model's tensors out of its file: checks each one's shape, makes it ready for the kernels,
 * and keeps account of what was taken.
 */
public final class Weights {
  private final ModelFile file;
  private final Kernels kernels;
  private final Arena arena;
  private final Set<String> taken = new HashSet<>();
  private final List<Matrix> matrices = new ArrayList<>();
  private final List<Tensor> matrixTensors = new ArrayList<>();
  private long vectorBytes;
  private long vectorValues;

  /**
   * Begins with nothing taken.
   *
   * @param arena owns what is decoded or repacked
   */
  Weights(ModelFile file, Kernels kernels, Arena arena) {
    this.file = file;
    this.kernels = kernels;
    this.arena = arena;
  }

  /** A tensor and the shape that it must have. */
  record Wanted(String name, long rows, long columns) {}

  boolean has(String name) {
    return file.tensor(name).isPresent();
  }

  /** A matrix of one tensor, or of several stacked in order. */
  Matrix matrix(Wanted... wanted) {
    List<Tensor> parts = new ArrayList<>();
    for (Wanted each : wanted) {
      parts.add(take(each));
    }
    return kept(parts, kernels.prepare(parts, arena));
  }

  /** A matrix of which rows are looked up, and nothing else. */
  Matrix table(Wanted wanted) {
    Tensor tensor = take(wanted);
    return kept(List.of(tensor), kernels.prepareTable(tensor));
  }

  private Matrix kept(List<Tensor> parts, Matrix matrix) {
    matrixTensors.addAll(parts);
    matrices.add(matrix);
    return matrix;
  }

  /** A vector, decoded to one row of float32. */
  Rows vector(String name, int width) {
    file.require(name);
    return optionalVector(width, new Wanted(name, 1, width)).orElseThrow();
  }

  /**
   * Vectors side by side in one row; empty if the file has none of them.
   *
   * @param width of all together
   * @param wanted the vectors; where there is one, all must be there
   */
  Optional<Rows> optionalVector(int width, Wanted... wanted) {
    if (Arrays.stream(wanted).noneMatch(each -> has(each.name()))) {
      return Optional.empty();
    }
    Rows row = Rows.allocate(arena, 1, width);
    long offset = 0;
    for (Wanted each : wanted) {
      float[] values = decode(take(each));
      MemorySegment.copy(values, 0, row.data(), ValueLayout.JAVA_FLOAT, offset, values.length);
      offset += (long) values.length * Float.BYTES;
    }
    vectorBytes += row.data().byteSize();
    vectorValues += width;
    return Optional.of(row);
  }

  /**
   * Matrices that lie one after another in a tensor, such as those of experts.
   *
   * @param count how many
   * @param wanted the shape of each; of several tensors those of equal number are stacked
   */
  List<Matrix> stacks(int count, Wanted... wanted) {
    List<Tensor> whole = new ArrayList<>();
    for (Wanted each : wanted) {
      whole.add(take(new Wanted(each.name(), count * each.rows(), each.columns())));
    }
    matrixTensors.addAll(whole);
    List<Matrix> stacks = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      List<Tensor> parts = new ArrayList<>();
      for (int part = 0; part < whole.size(); part++) {
        Tensor tensor = whole.get(part);
        long rows = wanted[part].rows();
        parts.add(slice(tensor, i, rows));
      }
      stacks.add(kernels.prepare(parts, arena));
    }
    matrices.addAll(stacks);
    return stacks;
  }

  private Tensor slice(Tensor tensor, int i, long rows) {
    try {
      return tensor.slice(tensor.name() + "[" + i + "]", i * rows, rows);
    } catch (IllegalArgumentException e) {
      throw new ModelException(
          "%s: tensor '%s' of %s can't be taken apart into its experts: %s; quantize it anew"
              .formatted(file.path(), tensor.name(), tensor.type(), e.getMessage()),
          e);
    }
  }

  /** A vector's values; none if the file has no such tensor. */
  float[] values(String name, int width) {
    return has(name) ? decode(take(new Wanted(name, 1, width))) : new float[0];
  }

  private static float[] decode(Tensor tensor) {
    float[] values = new float[(int) tensor.columns()];
    TensorCodec.decode(tensor, 0, values);
    return values;
  }

  private Tensor take(Wanted wanted) {
    Tensor tensor = file.require(wanted.name());
    if (tensor.rows() != wanted.rows() || tensor.columns() != wanted.columns()) {
      throw new ModelException(
          "%s: tensor '%s' is %d × %d where the model's configuration needs %d × %d"
              .formatted(
                  file.path(),
                  wanted.name(),
                  tensor.rows(),
                  tensor.columns(),
                  wanted.rows(),
                  wanted.columns()));
    }
    taken.add(wanted.name());
    if (tensor.scales().byteSize() > 0) {
      taken.add(TensorScales.name(wanted.name()));
    }
    return tensor;
  }

  /**
   * Makes sure that nothing was left in the file: a bias that is not added, say, makes another
   * model of it.
   */
  void requireAllTaken(String architecture) {
    List<String> left = file.tensorNames().stream().filter(name -> !taken.contains(name)).toList();
    if (!left.isEmpty()) {
      throw new ModelException(
          "%s holds %d tensors that the architecture '%s' doesn't use, the first is '%s'; it would"
                  .formatted(file.path(), left.size(), architecture, left.getFirst())
              + " be computed wrongly, so it is refused");
    }
  }

  /** The matrices' types. */
  public Set<DataType> types() {
    return WeightPrecision.parameters(matrixTensors).keySet();
  }

  /** Number of weights taken, those of tied matrices once. */
  public long parameters() {
    return vectorValues + matrixTensors.stream().mapToLong(t -> t.rows() * t.columns()).sum();
  }

  /** Bytes that the kernels or the decoder allocated, beside the file's own. */
  public long ownedBytes() {
    return vectorBytes + matrices.stream().mapToLong(Matrix::ownedBytes).sum();
  }

  /** Bytes of all weights: in the mapped file, and what the kernels or the decoder allocated. */
  public long bytes() {
    return ownedBytes() + matrixTensors.stream().mapToLong(Tensor::bytes).sum();
  }

  /**
   * The matrices' types by their share of parameters, the largest first, such as {@code Q4_1 79% +
   * Q8_0 21%}; a single type stands alone.
   */
  public String precision() {
    return WeightPrecision.describe(matrixTensors);
  }
}
