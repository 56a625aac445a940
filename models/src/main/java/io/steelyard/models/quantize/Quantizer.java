package io.steelyard.models.quantize;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.DataType.Scaling;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.codec.TensorCodec;
import io.steelyard.kernels.codec.TensorEncoder;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.gguf.GgufWriter;
import io.steelyard.models.gguf.Metadata;
import io.steelyard.models.gguf.TensorScales;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Writes a model with its matrices in other types. Vectors, norms, biases, positions and routers
 * stay as they are.
 */
public final class Quantizer {
  /** What isn't true of another file any more. */
  private static final Set<String> OF_THE_SOURCE =
      Set.of(
          "general.file_type",
          "split.no",
          "split.count",
          "split.tensors.count",
          "quantize.imatrix.file",
          "steelyard.types",
          "steelyard.sparsity");

  private final ModelFile source;
  private final Choice choice;
  private final ModelShape shape;
  private final boolean tied;

  /**
   * What is wanted.
   *
   * @param scheme of the matrices
   * @param embedding type of the embeddings, where it isn't the scheme's
   * @param output type of the matrix that gives logits, where it isn't the scheme's
   * @param sparsity which weights become zero
   * @param importance of the columns, for types whose scales are searched for
   */
  public record Choice(
      Scheme scheme,
      Optional<DataType> embedding,
      Optional<DataType> output,
      Optional<Sparsity> sparsity,
      Optional<Importance> importance) {
    /** A scheme and nothing else. */
    public static Choice of(Scheme scheme) {
      return new Choice(
          scheme, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** The same with some weights made zero first. */
    public Choice with(Sparsity pattern) {
      return new Choice(scheme, embedding, output, Optional.of(pattern), importance);
    }

    /** The same with columns that matter differently. */
    public Choice with(Importance matrix) {
      return new Choice(scheme, embedding, output, sparsity, Optional.of(matrix));
    }
  }

  /**
   * What becomes of a tensor.
   *
   * @param note why it has another type than the scheme's; empty where there is nothing to say
   */
  public record Plan(String name, Tensor from, DataType to, boolean encoded, String note) {}

  private Quantizer(ModelFile source, Choice choice) {
    this.source = source;
    this.choice = choice;
    shape = ModelShape.of(source.metadata());
    tied = source.tensor("output.weight").isEmpty();
  }

  /**
   * Writes the model.
   *
   * @param out a GGUF file; one that is there is replaced
   * @param looking hears how far the search for scales of whole tensors is, if the type needs it
   * @param writing hears bytes written
   * @return what became of each tensor
   * @throws ModelException if the source can't be read or holds values that aren't finite, or the
   *     file can't be written: then there is none
   */
  public static List<Plan> write(
      ModelFile source,
      Choice choice,
      Path out,
      ProgressListener looking,
      ProgressListener writing) {
    return new Quantizer(source, choice).write(out, looking, writing);
  }

  /** What would become of each tensor, in the order of the file. */
  public static List<Plan> plan(ModelFile source, Choice choice) {
    return new Quantizer(source, choice).plans();
  }

  private List<Plan> write(Path out, ProgressListener looking, ProgressListener writing) {
    List<Plan> plans = plans();
    GgufWriter writer = new GgufWriter(metadata(plans));
    long total = plans.stream().filter(Quantizer::isScanned).mapToLong(p -> values(p.from())).sum();
    long done = 0;
    for (Plan plan : plans) {
      long[] dimensions = source.dimensions(plan.name());
      if (plan.encoded()) {
        Encoded encoded = encoded(plan, dimensions);
        writer.add(plan.name(), plan.to(), dimensions, encoded);
        float[] scales = encoded.encoder.scales();
        if (scales.length > 0) {
          addScales(writer, plan.name(), scales);
        }
      } else {
        MemorySegment data = plan.from().data();
        writer.add(
            plan.name(),
            plan.to(),
            dimensions,
            (from, part) -> part.copyFrom(data.asSlice(from, part.byteSize())));
      }
      if (isScanned(plan)) {
        done += values(plan.from());
        looking.progress(done, total);
      }
    }
    try {
      writer.write(out, writing, source::checkUnchanged);
    } catch (InternalError e) {
      // How the JVM reports that a mapped page is gone.
      throw new ModelException(
          source.path() + " was cut short while it was being read; start again with a whole one",
          e);
    }
    return plans;
  }

  private static void addScales(GgufWriter writer, String name, float[] scales) {
    MemorySegment values = MemorySegment.ofArray(new byte[scales.length * Float.BYTES]);
    MemorySegment.copy(scales, 0, values, ValueLayout.JAVA_FLOAT_UNALIGNED, 0, scales.length);
    writer.add(
        TensorScales.name(name),
        DataType.F32,
        new long[] {scales.length},
        (from, part) -> part.copyFrom(values.asSlice(from, part.byteSize())));
  }

  private static boolean isScanned(Plan plan) {
    return plan.encoded() && plan.to().scaling() != Scaling.NONE;
  }

  private static long values(Tensor tensor) {
    return tensor.rows() * tensor.columns();
  }

  /** What becomes of each tensor, in the order of the file. */
  private List<Plan> plans() {
    Set<String> replaced = new HashSet<>();
    List<Plan> plans = new ArrayList<>();
    for (String name : source.tensorNames()) {
      Plan plan = plan(name, source.require(name));
      plans.add(plan);
      if (plan.encoded()) {
        replaced.add(TensorScales.name(name));
      }
    }
    plans.removeIf(plan -> replaced.contains(plan.name()));
    return plans;
  }

  private Plan plan(String name, Tensor tensor) {
    if (WeightTensors.staysFloat(name, source.dimensions(name).length)) {
      return new Plan(name, tensor, tensor.type(), false, "");
    }
    MatrixRole role = MatrixRole.of(name, tied);
    DataType wanted = wanted(role);
    DataType fitting = Scheme.fitting(wanted, tensor.columns());
    String note =
        fitting == wanted
            ? ""
            : "rows of %d values are no multiple of %s's block of %d"
                .formatted(tensor.columns(), wanted, wanted.blockSize());
    if (fitting == DataType.NF4_DQ && !expertsComeApart(name, tensor)) {
      fitting = DataType.NF4;
      note = "experts share scales of NF4_DQ";
    }
    boolean same = fitting == tensor.type() && choice.sparsity().isEmpty();
    return new Plan(name, tensor, fitting, !same, note);
  }

  private DataType wanted(MatrixRole role) {
    return switch (role.kind()) {
      case OUTPUT ->
          choice
              .output()
              .or(() -> tied ? choice.embedding() : Optional.empty())
              .orElseGet(() -> type(role));
      case EMBEDDING -> choice.embedding().orElseGet(() -> type(role));
      default -> type(role);
    };
  }

  private DataType type(MatrixRole role) {
    return choice.scheme().type(role, shape, choice.importance().isPresent());
  }

  /** Whether each expert's blocks are whole groups. */
  private boolean expertsComeApart(String name, Tensor tensor) {
    int matrices = matrices(source.dimensions(name));
    long blocks = tensor.rows() / matrices * (tensor.columns() / DataType.NF4_DQ.blockSize());
    return matrices == 1 || blocks % Tensor.NESTED_BLOCKS == 0;
  }

  private static int matrices(long[] dimensions) {
    long matrices = 1;
    for (int d = 2; d < dimensions.length; d++) {
      matrices *= dimensions[d];
    }
    return Math.toIntExact(matrices);
  }

  private Metadata metadata(List<Plan> plans) {
    Map<String, Object> added = new LinkedHashMap<>();
    choice.scheme().fileType().ifPresent(type -> added.put("general.file_type", type));
    added.put("general.quantization_version", 2);
    List<String> own = Scheme.descriptions(plans.stream().map(Plan::to).toList());
    if (!own.isEmpty()) {
      added.put("steelyard.types", own);
    }
    added.put("steelyard.quantization", choice.scheme().name());
    choice.importance().ifPresent(matrix -> added.put("quantize.imatrix.file", matrix.toString()));
    choice.sparsity().ifPresent(s -> added.put("steelyard.sparsity", s.toString()));
    return source
        .metadata()
        .without(OF_THE_SOURCE)
        .with(added);
  }

  private Encoded encoded(Plan plan, long[] dimensions) {
    Tensor tensor = plan.from();
    int columns = Math.toIntExact(tensor.columns());
    TensorEncoder.Source rows = source(tensor);
    int matrices = matrices(dimensions);
    TensorEncoder encoder = TensorEncoder.of(plan.to(), columns, tensor.rows(), matrices, rows);
    Optional<float[]> weights =
        choice.importance().flatMap(matrix -> matrix.weights(plan.name(), columns, matrices));
    return new Encoded(
        plan.to(), columns, rows, weights.map(encoder::withImportance).orElse(encoder));
  }

  private TensorEncoder.Source source(Tensor tensor) {
    TensorEncoder.Source rows = finite(tensor);
    return choice.sparsity().map(sparsity -> sparsity.applied(tensor, rows)).orElse(rows);
  }

  private TensorEncoder.Source finite(Tensor tensor) {
    return (row, to) -> {
      TensorCodec.decode(tensor, row, to);
      for (float value : to) {
        if (!Float.isFinite(value)) {
          throw new ModelException(
              "%s: tensor '%s' holds %s in row %d, which no scale can stand for; fetch or train the model again"
                  .formatted(source.path(), printable(tensor.name()), value, row));
        }
      }
    };
  }

  /** A tensor that is encoded as it is written. */
  private record Encoded(
      DataType type, int columns, TensorEncoder.Source rows, TensorEncoder encoder)
      implements GgufWriter.Content {
    @Override
    public void fill(long from, MemorySegment part) {
      long value = from / type.blockBytes() * type.blockSize();
      long end = value + part.byteSize() / type.blockBytes() * type.blockSize();
      float[] values = new float[columns];
      long at = 0;
      while (value < end) {
        long row = value / columns;
        int column = (int) (value % columns);
        int count = (int) Math.min(columns - column, end - value);
        rows.row(row, values);
        encoder.encode(row, column, values, column, count, part, at);
        at += type.bytes(count);
        value += count;
      }
    }
  }
}
