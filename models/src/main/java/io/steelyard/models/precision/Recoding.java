package io.steelyard.models.precision;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.codec.Codec;
import io.steelyard.kernels.codec.Encoder;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.gguf.GgufWriter;
import io.steelyard.models.gguf.Metadata;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** A model whose matrices are to be stored in another precision. Vectors stay as they are. */
public final class Recoding {
  /** Goes up whenever the same source would give another file than before. */
  public static final int GENERATION = 1;

  private final ModelFile source;
  private final Precision precision;
  private final int layers;
  private final boolean tied;

  public Recoding(ModelFile source, Precision precision) {
    this.source = source;
    this.precision = precision;
    String architecture = source.metadata().string("general.architecture");
    layers = (int) source.metadata().integer(architecture + ".block_count");
    tied = source.tensor("output.weight").isEmpty();
  }

  private DataType type(Tensor tensor) {
    return precision.of(tensor, layers, tied);
  }

  /** Whether the source is stored so already. */
  public boolean changesNothing() {
    return source.tensors().stream().allMatch(tensor -> type(tensor) == tensor.type());
  }

  /**
   * Writes the model as a GGUF file.
   *
   * @throws ModelException if it can't be written, or a weight is no finite number
   */
  public void write(Path out, ProgressListener listener) {
    Map<String, Object> changed = new LinkedHashMap<>();
    precision.fileType().ifPresent(number -> changed.put("general.file_type", number));
    changed.put("general.quantization_version", 2);
    Metadata metadata = source.metadata().with(changed);
    GgufWriter writer = new GgufWriter(metadata);
    for (Tensor tensor : source.tensors()) {
      DataType type = type(tensor);
      if (type == tensor.type()) {
        writer.add(tensor);
      } else {
        writer.add(
            tensor.name(),
            type,
            new long[] {tensor.columns(), tensor.rows()},
            (from, part) -> encode(tensor, type, from, part));
      }
    }
    try {
      writer.write(out, listener, source::checkUnchanged);
    } catch (InternalError e) {
      // How the JVM reports that a mapped page is gone.
      throw new ModelException(
          source.path() + " was cut short while it was being read; start again when it is complete",
          e);
    }
  }

  /** Encodes some blocks; those of the source they lie in may begin earlier and end later. */
  private static void encode(Tensor tensor, DataType type, long from, MemorySegment part) {
    long first = from / type.blockBytes() * type.blockSize();
    int count = Math.toIntExact(part.byteSize() / type.blockBytes() * type.blockSize());
    int block = tensor.type().blockSize();
    int before = (int) (first % block);
    int decoded = Math.ceilDiv(before + count, block) * block;
    float[] values = new float[decoded];
    Codec.of(tensor.type())
        .decode(tensor.data(), tensor.type().bytes(first - before), values, 0, decoded);
    for (int i = before; i < before + count; i++) {
      if (!Float.isFinite(values[i])) {
        throw new ModelException(
            "tensor '%s' holds %s, which %s can't store; the file may be damaged"
                .formatted(tensor.name(), values[i], type));
      }
    }
    Encoder.encode(type, values, before, count, part, 0);
  }
}
