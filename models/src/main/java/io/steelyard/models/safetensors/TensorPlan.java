package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.kernels.DataType;
import io.steelyard.models.ModelException;
import io.steelyard.models.quantize.WeightTensors;
import io.steelyard.models.safetensors.TensorNames.Target;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** Decides for each tensor of a checkpoint what it is called, typed and ordered in GGUF. */
final class TensorPlan {
  private static final int MOST_DIMENSIONS = 4;

  private final Checkpoint checkpoint;
  private final CheckpointConfig config;
  private final Family family;
  private final Optional<DataType> wanted;
  private final int vocabulary;
  private final Map<String, ConvertedTensor> tensors = new LinkedHashMap<>();
  private final Map<String, Map<Integer, StoredTensor>> experts = new LinkedHashMap<>();

  private TensorPlan(
      Checkpoint checkpoint,
      CheckpointConfig config,
      Family family,
      Optional<DataType> wanted,
      int vocabulary) {
    this.checkpoint = checkpoint;
    this.config = config;
    this.family = family;
    this.wanted = wanted;
    this.vocabulary = vocabulary;
  }

  /**
   * The tensors by their names in GGUF, in the order of the files.
   *
   * @param wanted type of the matrices; nothing for the one each is stored in
   * @param vocabulary tokens that there are; Gemma 3 has more rows of embeddings
   * @throws ModelException if a tensor isn't the family's or can't have its shape
   */
  static Map<String, ConvertedTensor> of(
      Checkpoint checkpoint,
      CheckpointConfig config,
      Family family,
      Optional<DataType> wanted,
      int vocabulary) {
    TensorPlan plan = new TensorPlan(checkpoint, config, family, wanted, vocabulary);
    plan.add();
    return Collections.unmodifiableMap(plan.tensors);
  }

  private void add() {
    RopeFactors.of(config, family)
        .forEach((name, factors) -> add(name, new long[] {factors.length}, factors));
    int layers = ModelMetadata.layers(config);
    TensorNames names = new TensorNames(checkpoint.folder().toString(), family);
    for (StoredTensor stored : checkpoint.tensors()) {
      Optional<Target> target = names.target(stored.name(), layers);
      if (target.isEmpty()) {
        continue;
      }
      requireValues(stored);
      String name = target.get().name();
      if (target.get().expert() < 0) {
        add(name, stored);
      } else if (experts
              .computeIfAbsent(name, _ -> new TreeMap<>())
              .put(target.get().expert(), stored)
          != null) {
        throw twice(name);
      }
    }
    experts.forEach(this::addExperts);
  }

  private void add(String name, long[] dimensions, float[] values) {
    tensors.put(
        name, new ConvertedTensor(name, DataType.F32, dimensions, RowSource.Stored.of(values)));
  }

  private void add(String name, StoredTensor stored) {
    RowSource.Stored rows = RowSource.Stored.of(stored);
    boolean matrix = stored.shape().length == 2;
    RowSource source = rows;
    if (family.permutesHeads() && name.matches(".*\\.attn_[qk]\\.(weight|bias)")) {
      boolean queries = name.contains(".attn_q.");
      int heads =
          queries
              ? ModelMetadata.heads(config, family)
              : ModelMetadata.keyValueHeads(config, family);
      source = inPairs(stored, heads);
    } else if (family.storesNormsLessOne() && name.endsWith("norm.weight")) {
      source = new RowSource.PlusOne(rows);
    } else if (family == Family.GPT2 && matrix && name.matches("blk\\..*\\.weight")) {
      source = new RowSource.Transposed(rows);
    } else if (family == Family.GEMMA3
        && name.equals("token_embd.weight")
        && vocabulary > 0
        && vocabulary < rows.rows()) {
      source = rows.cut(vocabulary);
    }
    long[] dimensions = reversed(stored.shape());
    if (matrix) {
      dimensions = new long[] {source.columns(), source.rows()};
    }
    add(name, dimensions, source);
  }

  private void add(String name, long[] dimensions, RowSource source) {
    DataType type = type(name, dimensions, source);
    if (tensors.put(name, new ConvertedTensor(name, type, dimensions, source)) != null) {
      throw twice(name);
    }
  }

  /** A vector is one row to whoever reads it, but its heads are groups of its values. */
  private RowSource inPairs(StoredTensor stored, int heads) {
    long size = stored.shape().length == 0 ? 1 : stored.shape()[0];
    if (size % (2L * heads) != 0) {
      throw fault(
          "tensor '%s' has %d rows, no multiple of 2 for each of %d heads"
              .formatted(printable(stored.name()), size, heads));
    }
    if (stored.shape().length == 1) {
      RowSource.Stored column = new RowSource.Stored(stored.type(), 1, size, stored.data());
      return new RowSource.AsVector(new RowSource.HeadsInPairs(column, heads));
    }
    return new RowSource.HeadsInPairs(RowSource.Stored.of(stored), heads);
  }

  private void addExperts(String name, Map<Integer, StoredTensor> parts) {
    int count = config.count("num_experts", "num_local_experts");
    if (!IntStream.range(0, count).allMatch(parts::containsKey) || parts.size() != count) {
      throw fault(
          "tensor '%s' needs the experts 0 to %d, and %d are there"
              .formatted(name, count - 1, parts.size()));
    }
    StoredTensor first = parts.get(0);
    List<RowSource.Stored> stored = new ArrayList<>();
    for (StoredTensor part : parts.values()) {
      if (part.type() != first.type()
          || part.shape().length != 2
          || part.rows() != first.rows()
          || part.columns() != first.columns()) {
        throw fault(
            "tensor '%s' is no matrix of the shape and type of '%s'"
                .formatted(printable(part.name()), printable(first.name())));
      }
      stored.add(RowSource.Stored.of(part));
    }
    add(
        name,
        new long[] {first.columns(), first.rows(), count},
        new RowSource.Stacked(List.copyOf(stored)));
  }

  private void requireValues(StoredTensor stored) {
    if (stored.shape().length > MOST_DIMENSIONS || stored.data().byteSize() == 0) {
      throw fault(
          "tensor '%s' has %s; a model's have one to %d dimensions and at least one value"
              .formatted(
                  printable(stored.name()),
                  stored.data().byteSize() == 0
                      ? "no values"
                      : stored.shape().length + " dimensions",
                  MOST_DIMENSIONS));
    }
  }

  /** llama.cpp's rules: vectors, norms, positions and routers stay float32 in every file. */
  private DataType type(String name, long[] dimensions, RowSource source) {
    boolean always32 = WeightTensors.staysFloat(name, dimensions.length);
    DataType type = always32 ? DataType.F32 : wanted.orElseGet(() -> source.type().dataType());
    return source.columns() % type.blockSize() == 0 ? type : DataType.F16;
  }

  private static long[] reversed(long[] shape) {
    if (shape.length == 0) {
      return new long[] {1};
    }
    long[] reversed = new long[shape.length];
    for (int d = 0; d < shape.length; d++) {
      reversed[d] = shape[shape.length - 1 - d];
    }
    return reversed;
  }

  private ModelException twice(String name) {
    return fault("two tensors would be '%s' in GGUF; the model holds a part twice".formatted(name));
  }

  private ModelException fault(String what) {
    return new ModelException(checkpoint.folder() + ": " + what);
  }
}
