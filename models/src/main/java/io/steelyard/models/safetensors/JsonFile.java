package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.FileFailure;
import io.steelyard.models.ModelException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Small files that lie beside the weights, read whole and never beyond a limit. */
final class JsonFile {
  private JsonFile() {}

  /**
   * A JSON object.
   *
   * @param most bytes that such a file may have
   * @throws ModelException if the file is there but can't be read, is too large, or holds no object
   */
  static Optional<JsonNode> read(Path file, int most) {
    return bytes(file, most).map(bytes -> parse(file, bytes));
  }

  /** A text, under the same conditions. */
  static Optional<String> text(Path file, int most) {
    return bytes(file, most).map(bytes -> new String(bytes, StandardCharsets.UTF_8));
  }

  private static JsonNode parse(Path file, byte[] bytes) {
    try {
      JsonNode root = JsonMapper.shared().readTree(bytes);
      if (!root.isObject()) {
        throw new ModelException(file + " holds no JSON object; fetch it again");
      }
      return root;
    } catch (JacksonException e) {
      throw new ModelException(
          "%s is no valid JSON: %s; fetch it again"
              .formatted(file, printable(e.getOriginalMessage())),
          e);
    }
  }

  /** All bytes, under the same conditions. */
  static Optional<byte[]> bytes(Path file, int most) {
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(most + 1);
      if (bytes.length > most) {
        throw new ModelException(
            "%s has more than %,d bytes, which no such file needs".formatted(file, most));
      }
      return Optional.of(bytes);
    } catch (IOException e) {
      throw new ModelException(file + " can't be read: " + FileFailure.reason(e), e);
    }
  }
}
