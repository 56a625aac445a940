package io.steelyard.models.safetensors;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.Tensor;
import io.steelyard.models.ModelFile;
import io.steelyard.models.Mutations;
import io.steelyard.models.gguf.Metadata;
import io.steelyard.models.tokenizer.Tokenizer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Configurations and tokenizers are foreign files too; see {@link Mutations}. */
class SettingsFuzzTest {
  private static final long SEED = 20_261_130;
  private static final String TEXT =
      "The 2nd model's  weights▁ \u00e9\ud83d\ude00\n<s>[CLS]<|im_end|>";

  @TempDir Path directory;
  private Path folder;

  @BeforeEach
  void unpack() throws IOException {
    folder = Fixtures.folder("qwen3-bf16", directory);
  }

  private static byte[] resource(String name) throws IOException {
    String at = "/io/steelyard/models/" + name;
    try (InputStream in = SettingsFuzzTest.class.getResourceAsStream(at)) {
      return in.readAllBytes();
    }
  }

  @Test
  void survivesMutationsOfConfigurations() throws IOException {
    configurations(400);
  }

  @Test
  @Tag("soak")
  void survivesAHundredThousandMutationsOfConfigurations() throws IOException {
    configurations(100_000);
  }

  private void configurations(int count) throws IOException {
    Files.delete(folder.resolve("tokenizer.json"));
    Path config = folder.resolve("config.json");
    Mutations.Outcome outcome =
        Mutations.survive(
            folder.toString(),
            SEED,
            count,
            List.of(Files.readAllBytes(config)),
            Mutations::text,
            bytes -> {
              Files.write(config, bytes);
              try (ModelFile model = ModelFile.open(folder)) {
                for (Tensor tensor : model.tensors()) {
                  assertThat(tensor.data().byteSize()).isPositive();
                }
              }
            });
    assertThat(outcome.read()).isGreaterThan(count / 20);
    assertThat(outcome.refused()).isGreaterThan(count / 20);
  }

  @Test
  void survivesMutationsOfTokenizers() throws IOException {
    tokenizers(600);
  }

  @Test
  @Tag("soak")
  void survivesAHundredThousandMutationsOfTokenizers() throws IOException {
    tokenizers(100_000);
  }

  private void tokenizers(int count) throws IOException {
    List<byte[]> originals = new ArrayList<>(List.of(resource("safetensors/tokenizer.json")));
    for (String name :
        List.of("unigram-nfkc", "unigram-charsmap", "unigram-lower", "wordpiece-uncased")) {
      originals.add(resource("tokenizer/pipelines/" + name + ".json"));
    }
    Files.writeString(folder.resolve("config.json"), "{}");
    Mutations.Outcome outcome = tokenizers(count, originals, "tokenizer.json", Mutations::text);
    assertThat(outcome.read()).isGreaterThan(count / 10);
    assertThat(outcome.refused()).isGreaterThan(count / 10);
  }

  @Test
  void survivesMutationsOfSentencePieceModels() throws IOException {
    sentencePieces(600);
  }

  @Test
  @Tag("soak")
  void survivesAHundredThousandMutationsOfSentencePieceModels() throws IOException {
    sentencePieces(100_000);
  }

  private void sentencePieces(int count) throws IOException {
    List<byte[]> originals = new ArrayList<>();
    for (String name : List.of("unigram", "bpe", "bpe-rules")) {
      originals.add(resource("tokenizer/pipelines/sentencepiece-" + name + ".model"));
    }
    Files.delete(folder.resolve("tokenizer.json"));
    Files.writeString(folder.resolve("config.json"), "{}");
    Mutations.Outcome outcome = tokenizers(count, originals, "tokenizer.model", Mutations::bytes);
    assertThat(outcome.read()).isGreaterThan(count / 20);
    assertThat(outcome.refused()).isGreaterThan(count / 20);
  }

  private Mutations.Outcome tokenizers(
      int count, List<byte[]> originals, String name, Mutations.Mutation mutation)
      throws IOException {
    CheckpointConfig config = CheckpointConfig.read(folder);
    return Mutations.survive(
        "okeni",
        SEED,
        count,
        originals,
        mutation,
        bytes -> {
          Files.write(folder.resolve(name), bytes);
          Metadata metadata =
              new Metadata(
                  folder.resolve(name).toString(),
                  TokenizerMetadata.of(folder, config, Family.QWEN3));
          Tokenizer tokenizer = Tokenizer.of(metadata);
          tokenizer.decode(tokenizer.encode(TEXT, true));
          tokenizer.encode(TEXT, false);
        });
  }
}
