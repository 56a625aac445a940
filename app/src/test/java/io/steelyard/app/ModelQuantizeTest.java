package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.app.CommandLineTest.Outcome;
import io.steelyard.kernels.DataType;
import io.steelyard.models.gguf.GgufFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ModelQuantizeTest {
  @TempDir private Path directory;
  private Path source;
  private Path out;

  @BeforeEach
  void copyModel() throws IOException {
    source = directory.resolve("tiny.gguf");
    out = directory.resolve("out.gguf");
    try (InputStream in = ModelQuantizeTest.class.getResourceAsStream("llama-tied.gguf")) {
      Files.copy(in, source);
    }
  }

  private Outcome quantize(String... more) {
    String[] arguments = new String[5 + more.length - 1];
    arguments[0] = "model";
    arguments[1] = "quantize";
    arguments[2] = source.toString();
    arguments[3] = more[0];
    arguments[4] = "--out=" + out;
    System.arraycopy(more, 1, arguments, 5, more.length - 1);
    return CommandLineTest.run("", arguments);
  }

  @Test
  void tellsWhatEachKindOfTensorBecame() {
    Outcome outcome = quantize("q4_k_m");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    // Rows of 96 are no multiple of 256.
    assertThat(outcome.out())
        .containsPattern("blk\\.\\*\\.attn_q\\.weight × 2 +F32 +Q5_0 +\\S+ kB +\\S+ kB +4\\.\\d+ %")
        .containsPattern("token_embd\\.weight +F32 +Q8_0")
        .containsPattern("output_norm\\.weight +F32 +F32 +384 B +384 B +–")
        .containsPattern("\nall +")
        .contains("rows of 96 values are no multiple of Q4_K's block of 256: Q5_0 instead")
        .contains("out.gguf");
    try (GgufFile file = GgufFile.open(out)) {
      assertThat(file.require("blk.0.attn_q.weight").type()).isEqualTo(DataType.Q5_0);
    }
  }

  @Test
  void listsTensorsAndPrintsJson() {
    assertThat(quantize("int8-row", "--tensors").out())
        .containsPattern("blk\\.1\\.ffn_down\\.weight +F32 +INT8_ROW");

    Outcome outcome = quantize("nf4", "--output", "q8_0", "--json", "--force");
    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(outcome.out())
        .contains("\"scheme\" : \"nf4\"")
        .contains("\"name\" : \"blk.0.attn_v.weight\"")
        .contains("\"error\" : ");
  }

  @Test
  void refusesWhatItCantDo() throws IOException {
    assertThat(quantize("q4_k_x").code()).isEqualTo(ExitCode.USAGE);
    assertThat(quantize("q4_k_x").err())
        .contains("there is no type 'q4_k_x'; near it are")
        .contains("q4_k_m");
    assertThat(quantize("q8_0", "--sparsity", "blocks").err())
        .contains("there is no sparsity 'blocks'; give 2:4, or block");
    assertThat(out).doesNotExist();

    Files.writeString(out, "precious");
    Outcome there = quantize("q8_0");
    assertThat(there.code()).isEqualTo(ExitCode.USAGE);
    assertThat(there.err()).contains("out.gguf is there already").contains("--force");
    assertThat(out).hasContent("precious");

    out = source;
    assertThat(quantize("q8_0", "--force").err()).contains("is SOURCE itself: name another file");
    out = directory.resolve("missing").resolve("out.gguf");
    assertThat(quantize("q8_0").err()).contains("there is no such folder; make it first");
  }

  @Test
  void warnsOfASourceThatIsQuantisedAlready() {
    quantize("q8_0");
    source = out;
    out = directory.resolve("again.gguf");

    assertThat(quantize("q4_0").err())
        .contains("is quantised already (Q8_0): its errors stay and others are added");
  }

  @Test
  void errorsAreWeighedByATextThatTheModelIsRunOn() throws IOException {
    Path text = Files.writeString(directory.resolve("text.txt"), "the end of the beginning\n");
    Outcome plain = quantize("iq4_nl", "--json");
    Outcome weighed = quantize("iq4_nl", "--json", "--force", "--imatrix", text.toString());

    assertThat(weighed.code()).as(weighed.err()).isZero();
    // Other scales, and so other errors.
    assertThat(weighed.out()).isNotEqualTo(plain.out());
    try (GgufFile file = GgufFile.open(out)) {
      assertThat(file.metadata().string("quantize.imatrix.file")).contains("text.txt");
    }
    assertThat(quantize("iq4_nl", "--force", "--imatrix", source.toString()).err())
        .contains("tiny.gguf holds no importance matrix");
    assertThat(quantize("iq4_nl", "--force", "--imatrix", "none.txt").err())
        .contains("--imatrix none.txt: there is no such file");
  }

  @Test
  void ownTypesRunInEveryTier() throws IOException {
    Path expected = directory.resolve("expected.f32");
    assertThat(quantize("int8_row").code()).isZero();
    Outcome logits =
        CommandLineTest.run(
            "", "model", "logits", out.toString(), "--ids", "1,2,3", "--out", expected.toString());
    assertThat(logits.code()).as(logits.err()).isZero();
    assertThat(Files.size(expected)).isPositive();
    Outcome inspected = CommandLineTest.run("", "model", "inspect", out.toString());
    assertThat(inspected.out()).contains("INT8_ROW").contains("steelyard.quantization");
  }
}
