package io.steelyard.reports;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Compares an output with the file that holds how it should look. After a change of the looks that
 * was meant, {@code mvn test -pl reports -am -Dsteelyard.golden.update=true} writes the files anew
 * (the property reaches the tests); the difference is then read before it is committed.
 */
final class Golden {

  private static final boolean UPDATE = Boolean.getBoolean("steelyard.golden.update");
  private static final Path SOURCE = Path.of("src", "test", "resources", "golden");

  private Golden() {}

  /** Asserts that the text is, byte for byte, that of {@code golden/NAME}. */
  static void assertSame(String name, String text) {
    try {
      if (UPDATE) {
        Files.createDirectories(SOURCE);
        Files.writeString(SOURCE.resolve(name), text);
        return;
      }
      try (InputStream in = Golden.class.getResourceAsStream("/golden/" + name)) {
        assertThat(in).as("golden file %s", name).isNotNull();
        assertThat(text).isEqualTo(new String(in.readAllBytes(), StandardCharsets.UTF_8));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
