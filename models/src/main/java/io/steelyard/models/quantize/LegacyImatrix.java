package io.steelyard.models.quantize;

import io.steelyard.models.MappedFile;
import io.steelyard.models.ModelException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * An importance matrix as llama.cpp wrote it before it had a GGUF format, usually named {@code
 * imatrix.dat}: how many tensors; of each the length of its name, the name, how many calls were
 * counted, how many values follow, and the values, which are means times the calls; then what text
 * it was made of. Numbers have 32 bits, the lowest first.
 */
final class LegacyImatrix {
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Longer than any tensor's name. */
  private static final int NAME_BYTES = 1024;

  private final Path path;
  private final MemorySegment bytes;
  private long position;

  private LegacyImatrix(Path path, MemorySegment bytes) {
    this.path = path;
    this.bytes = bytes;
  }

  /**
   * Reads the means by tensor.
   *
   * @throws ModelException if the file is something else, or is damaged
   */
  static Map<String, float[]> read(Path path) {
    try (MappedFile file = MappedFile.open(path, "give a file of llama-imatrix")) {
      return file.read(data -> new LegacyImatrix(path, data).means());
    }
  }

  private Map<String, float[]> means() {
    int tensors = number("tensors", 1, Integer.MAX_VALUE);
    Map<String, float[]> means = new TreeMap<>();
    for (int tensor = 0; tensor < tensors; tensor++) {
      int length = number("bytes of a name", 1, NAME_BYTES);
      byte[] name = take(length).toArray(ValueLayout.JAVA_BYTE);
      int calls = number("calls", 0, Integer.MAX_VALUE);
      int values = number("values", 1, Integer.MAX_VALUE);
      float[] mean = take((long) values * Float.BYTES).toArray(FLOAT);
      for (int i = 0; i < values; i++) {
        mean[i] /= Math.max(1, calls);
        if (!(mean[i] >= 0) || Float.isInfinite(mean[i])) {
          throw damaged("a mean square of " + mean[i]);
        }
      }
      means.put(new String(name, StandardCharsets.UTF_8), mean);
    }
    return means;
  }

  private int number(String what, int least, int most) {
    int number = take(Integer.BYTES).get(INT, 0);
    if (number < least || number > most) {
      throw damaged(number + " " + what);
    }
    return number;
  }

  private MemorySegment take(long count) {
    if (count > bytes.byteSize() - position) {
      throw damaged("%d bytes where %d are left".formatted(count, bytes.byteSize() - position));
    }
    MemorySegment taken = bytes.asSlice(position, count);
    position += count;
    return taken;
  }

  private ModelException damaged(String what) {
    return new ModelException(
        "%s is no importance matrix, or is damaged: it has %s, before byte %d"
            .formatted(path, what, position));
  }
}
