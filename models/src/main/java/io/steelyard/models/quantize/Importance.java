package io.steelyard.models.quantize;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.codec.TensorCodec;
import io.steelyard.models.ModelException;
import io.steelyard.models.gguf.GgufFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * An importance matrix: how large the activations are that meet each column of a matrix, as their
 * mean square. An error in a column costs so much more.
 */
public final class Importance {
  private static final String SUMS = ".in_sum2";
  private static final String COUNTS = ".counts";

  /** Of the mean: a column that no activation reached still counts a little. */
  private static final float LEAST = 1e-3f;

  private final String source;
  private final Map<String, float[]> means;

  /**
   * An importance matrix made in memory.
   *
   * @param source what messages call it
   * @param means mean squares by tensor, one a column; of experts one after the other
   */
  Importance(String source, Map<String, float[]> means) {
    this.source = source;
    this.means = Collections.unmodifiableMap(means);
  }

  /**
   * Whether a file is no text: one of either format begins with {@code GGUF}, or with the number of
   * its tensors, which has no use for the highest of its four bytes.
   *
   * @throws UncheckedIOException if it can't be read
   */
  public static boolean isStored(Path path) {
    byte[] start = start(path);
    return isGguf(start) || (start.length == 4 && start[3] == 0);
  }

  private static byte[] start(Path path) {
    try (InputStream in = Files.newInputStream(path)) {
      return in.readNBytes(4);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isGguf(byte[] start) {
    return Arrays.equals(start, "GGUF".getBytes(StandardCharsets.US_ASCII));
  }

  /**
   * Reads a file of llama.cpp's {@code llama-imatrix}, in its GGUF format or the one before that.
   *
   * @throws ModelException if it is none, or is damaged
   */
  public static Importance read(Path path) {
    if (!isGguf(start(path))) {
      return new Importance(path.toString(), LegacyImatrix.read(path));
    }
    try (GgufFile file = GgufFile.open(path)) {
      Map<String, float[]> means = new TreeMap<>();
      for (String name : file.tensorNames()) {
        if (name.endsWith(SUMS)) {
          String tensor = name.substring(0, name.length() - SUMS.length());
          means.put(tensor, mean(path, file.require(name), file.require(tensor + COUNTS)));
        }
      }
      if (means.isEmpty()) {
        throw new ModelException(
            path + " holds no importance matrix: no tensor's name ends in " + SUMS);
      }
      return new Importance(path.toString(), means);
    }
  }

  private static float[] mean(Path path, Tensor sums, Tensor counts) {
    long matrices = counts.rows() * counts.columns();
    long values = sums.rows() * sums.columns();
    if (sums.type() != DataType.F32
        || counts.type() != DataType.F32
        || values > Integer.MAX_VALUE
        || sums.rows() != matrices) {
      throw new ModelException(
          "%s is damaged: tensor '%s' has %d × %d values of %s and %d counts"
              .formatted(path, sums.name(), sums.rows(), sums.columns(), sums.type(), matrices));
    }
    int columns = (int) sums.columns();
    float[] count = new float[(int) counts.columns()];
    float[] row = new float[columns];
    float[] means = new float[(int) values];
    for (int matrix = 0; matrix < sums.rows(); matrix++) {
      TensorCodec.decode(sums, matrix, row);
      TensorCodec.decode(counts, matrix / count.length, count);
      float tokens = count[matrix % count.length];
      for (int i = 0; i < columns; i++) {
        float mean = tokens > 0 ? row[i] / tokens : 1;
        if (!(mean >= 0) || Float.isInfinite(mean)) {
          throw new ModelException(
              "%s is damaged: tensor '%s' holds %s".formatted(path, sums.name(), row[i]));
        }
        means[matrix * columns + i] = mean;
      }
    }
    return means;
  }

  /** Where it came from. */
  @Override
  public String toString() {
    return source;
  }

  /** Mean squares by tensor. */
  Map<String, float[]> means() {
    return means;
  }

  /**
   * The weights of a tensor's columns, all positive; nothing if it isn't in the matrix.
   *
   * @param columns of the tensor
   * @param matrices that lie one after another in it
   * @throws ModelException if the matrix was made for another shape
   */
  Optional<float[]> weights(String tensor, int columns, int matrices) {
    float[] found = means.get(tensor);
    if (found == null) {
      return Optional.empty();
    }
    if (found.length != (long) columns * matrices) {
      throw new ModelException(
          "%s has %d values for tensor '%s', which has %d columns%s: it was made with another model"
              .formatted(
                  source,
                  found.length,
                  tensor,
                  columns,
                  matrices == 1 ? "" : " in each of " + matrices + " experts"));
    }
    float[] weights = new float[found.length];
    for (int matrix = 0; matrix < matrices; matrix++) {
      double sum = 0;
      for (int i = 0; i < columns; i++) {
        sum += found[matrix * columns + i];
      }
      float mean = (float) (sum / columns);
      for (int i = matrix * columns; i < (matrix + 1) * columns; i++) {
        weights[i] = mean > 0 ? found[i] / mean + LEAST : 1;
      }
    }
    return Optional.of(weights);
  }
}
