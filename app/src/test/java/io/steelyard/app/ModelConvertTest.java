package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.app.CommandLineTest.Outcome;
import io.steelyard.kernels.DataType;
import io.steelyard.models.gguf.GgufFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Folders with safetensors at the command line: converted, and used as they are. */
final class ModelConvertTest {
  /** Megabytes, so that they stand once among all modules' resources. */
  private static final Path MODELS =
      Path.of("../models/src/test/resources/io/steelyard/models/safetensors");

  @TempDir private Path directory;
  private Path folder;
  private Path gguf;

  @BeforeEach
  void copyModel() throws IOException {
    folder = Files.createDirectory(directory.resolve("tiny"));
    gguf = directory.resolve("reference.gguf");
    try (InputStream in = ModelConvertTest.class.getResourceAsStream("llama-tied.gguf")) {
      Files.copy(in, gguf);
    }
    for (String name : List.of("llama-tied/config.json", "llama-tied/model.safetensors")) {
      copy(name);
    }
    copy("tokenizer.json");
    copy("tokenizer_config.json");
  }

  private void copy(String name) throws IOException {
    Path file = MODELS.resolve(name);
    Files.copy(file, folder.resolve(file.getFileName()));
  }

  @Test
  void writesTheModelThatTheFolderHolds() throws IOException {
    Path out = directory.resolve("out.gguf");

    Outcome outcome = convert(out, "--type", "q8_0");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(outcome.out()).contains("out.gguf");
    try (GgufFile file = GgufFile.open(out)) {
      assertThat(file.require("blk.0.attn_q.weight").type()).isEqualTo(DataType.Q8_0);
    }
    assertThat(files()).containsExactly("out.gguf", "reference.gguf", "tiny");
  }

  @Test
  void aFolderIsTokenizedWithAndRunAsTheFileMadeOfIt() throws IOException {
    Path fromFolder = directory.resolve("folder.f32");
    Path fromFile = directory.resolve("file.f32");

    Outcome tokens = CommandLineTest.run("\"the end\"\n", "model", "tokenize", folder.toString());
    Outcome expected = CommandLineTest.run("\"the end\"\n", "model", "tokenize", gguf.toString());
    Outcome logits = logits(folder, fromFolder);
    logits(gguf, fromFile);

    assertThat(tokens.code()).as(tokens.err()).isZero();
    assertThat(tokens.out()).isEqualTo(expected.out());
    assertThat(logits.code()).as(logits.err()).isZero();
    assertThat(fromFolder).hasSameBinaryContentAs(fromFile);
  }

  private static Outcome logits(Path model, Path out) {
    return CommandLineTest.run(
        "", "model", "logits", model.toString(), "--ids", "1,2,3", "--out", out.toString());
  }

  @Test
  void aFolderIsInspected() {
    Outcome outcome = CommandLineTest.run("", "model", "inspect", folder.toString(), "--tensors");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(outcome.out())
        .contains("safetensors, 1 file")
        .contains("llama.block_count")
        .contains("blk.0.attn_q.weight");
  }

  @Test
  void aFolderGeneratesText() {
    Outcome outcome =
        CommandLineTest.run("", "generate", "--model", folder.toString(), "-n", "5", "abc");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(outcome.err()).contains("prompt tokens");
  }

  @Test
  void wrongUsageSaysWhatIsWrong() {
    Path out = directory.resolve("out.gguf");

    Outcome type = convert(out, "--type", "q3");
    Outcome file = CommandLineTest.run("", "model", "convert", gguf.toString(), out.toString());
    Outcome place = convert(directory.resolve("none/out.gguf"));
    Outcome over = convert(folder.resolve("model.safetensors"));
    Outcome missing = CommandLineTest.run("", "model", "convert", "none", out.toString());

    assertThat(List.of(type.code(), file.code(), place.code(), over.code(), missing.code()))
        .containsOnly(ExitCode.USAGE);
    assertThat(type.err()).contains("there is no type 'q3'; near it are q3_k_s, q3_k_m, q3_k_l");
    assertThat(file.err()).contains("give a folder with safetensors");
    assertThat(place.err()).contains("there is no such folder");
    assertThat(over.err()).contains("name a .gguf file");
    assertThat(missing.err()).contains("SOURCE none: there is no such");
  }

  @Test
  void aDamagedModelLeavesNoFileBehind() throws IOException {
    Path weights = folder.resolve("model.safetensors");
    byte[] bytes = Files.readAllBytes(weights);
    Files.write(weights, Arrays.copyOf(bytes, bytes.length - 1));

    Outcome outcome = convert(directory.resolve("out.gguf"));

    assertThat(outcome.code()).isEqualTo(ExitCode.FAILED);
    assertThat(outcome.err()).contains("model.safetensors is damaged").doesNotContain("\tat ");
    assertThat(files()).containsExactly("reference.gguf", "tiny");
  }

  private Outcome convert(Path out, String... more) {
    return CommandLineTest.run(
        "",
        Stream.concat(
                Stream.of("model", "convert", folder.toString(), out.toString()), Stream.of(more))
            .toArray(String[]::new));
  }

  private List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }
}
