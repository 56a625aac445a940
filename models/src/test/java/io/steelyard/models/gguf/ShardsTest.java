package io.steelyard.models.gguf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.Tier;
import io.steelyard.models.Model;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.Session;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Models in several files, laid out as llama-gguf-split lays them out. */
class ShardsTest {
  private static final int SHARDS = 3;

  @TempDir Path directory;
  private Path whole;

  @BeforeEach
  void unpack() throws IOException {
    whole = resource("llama");
  }

  private Path resource(String name) throws IOException {
    String at = "/io/steelyard/models/tiny/" + name + "/" + name + ".gguf";
    try (InputStream in = ShardsTest.class.getResourceAsStream(at)) {
      return Files.write(directory.resolve(name + ".gguf"), in.readAllBytes());
    }
  }

  private Path shard(int number) {
    return directory.resolve("part-%05d-of-%05d.gguf".formatted(number, SHARDS));
  }

  /** Splits a model; the first file has a third of the tensors, or none at all. */
  private void split(Path model, boolean noTensorsFirst) {
    try (GgufFile file = GgufFile.open(model)) {
      List<Tensor> tensors = List.copyOf(file.tensors());
      for (int i = 0; i < SHARDS; i++) {
        int holders = noTensorsFirst ? SHARDS - 1 : SHARDS;
        int place = noTensorsFirst ? i - 1 : i;
        List<Tensor> held =
            place < 0
                ? List.of()
                : tensors.subList(
                    place * tensors.size() / holders, (place + 1) * tensors.size() / holders);
        write(i, i == 0 ? file.metadata() : new Metadata("", Map.of()), held, tensors.size());
      }
    }
  }

  private void write(int index, Metadata metadata, List<Tensor> tensors, int all) {
    Map<String, Object> values = new LinkedHashMap<>(metadata.values());
    values.put("split.no", new Value(ValueType.UINT16, (long) index));
    values.put("split.count", new Value(ValueType.UINT16, (long) SHARDS));
    values.put("split.tensors.count", new Value(ValueType.INT32, (long) all));
    GgufWriter writer = new GgufWriter(new Metadata("", values));
    tensors.forEach(writer::add);
    writer.write(shard(index + 1), ProgressListener.NONE);
  }

  private static List<float[]> logits(Path model) {
    try (Kernels kernels = Kernels.of(Tier.REFERENCE, 1);
        Model loaded = Model.load(model, kernels);
        Session session = loaded.newSession(16)) {
      List<float[]> rows = new ArrayList<>();
      int[] ids = {1, 17, 200, 5, 99, 310};
      session.forward(ids, 0, ids.length, row -> rows.add(row.toArray(ValueLayout.JAVA_FLOAT)));
      return rows;
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anyFileOfAModelOpensAllOfIt(boolean noTensorsFirst) throws IOException {
    split(whole, noTensorsFirst);
    List<float[]> expected = logits(whole);
    for (int number = 1; number <= SHARDS; number++) {
      try (ModelFile file = ModelFile.open(shard(number));
          ModelFile original = ModelFile.open(whole)) {
        assertThat(file.path()).isEqualTo(shard(1));
        assertThat(file.format()).isEqualTo("GGUF version 3, 3 files");
        assertThat(file.tensorNames()).containsExactlyElementsOf(original.tensorNames());
        assertThat(file.parameters()).isEqualTo(original.parameters());
        assertThat(file.metadata().strings("tokenizer.ggml.tokens")).hasSize(320);
        assertThat(file.fileSize()).isEqualTo(ModelFile.bytes(shard(number)));
        file.checkUnchanged();
      }
      assertThat(ModelFile.files(shard(number))).containsExactly(shard(1), shard(2), shard(3));
      assertThat(logits(shard(number))).usingRecursiveComparison().isEqualTo(expected);
    }
  }

  private void assertRefused(String... said) {
    assertThatThrownBy(() -> ModelFile.open(shard(2)))
        .isInstanceOf(ModelException.class)
        .message()
        .contains(said)
        .doesNotContain("\n");
  }

  @Test
  void aMissingFileIsNamed() throws IOException {
    split(whole, false);
    Files.delete(shard(3));
    assertRefused(shard(3) + " is missing", "the model is in 3 files");
    assertThatThrownBy(() -> ModelFile.files(shard(1))).hasMessageContaining("is missing");
  }

  @Test
  void aFileOfAnotherModelIsNamed() throws IOException {
    split(resource("qwen3"), false);
    byte[] foreign = Files.readAllBytes(shard(2));
    split(whole, false);
    Files.write(shard(2), foreign);
    assertRefused(shard(2).toString(), "of another model", "split.tensors.count");
    write(1, new Metadata("", Map.of("general.architecture", "qwen3")), List.of(), tensors(whole));
    assertRefused(shard(2).toString(), "of another model", "'qwen3', not 'llama'");
  }

  @Test
  void countsThatDisagreeAreSaid() throws IOException {
    split(whole, false);
    Files.copy(shard(3), directory.resolve("two-00002-of-00002.gguf"));
    Files.copy(shard(1), directory.resolve("two-00001-of-00002.gguf"));
    assertThatThrownBy(() -> ModelFile.open(directory.resolve("two-00002-of-00002.gguf")))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("one of 2 files")
        .hasMessageContaining("one of 3");
    byte[] third = Files.readAllBytes(shard(3));
    Files.write(shard(3), Files.readAllBytes(shard(2)));
    assertRefused(shard(3).toString(), "file 3 of 3", "that it is file 2");
    Files.write(shard(3), third);
    int all = tensors(whole);
    write(1, new Metadata("", Map.of()), List.of(), all);
    assertRefused(shard(1).toString(), "it promises %d tensors in 3 files".formatted(all));
    try (GgufFile file = GgufFile.open(whole)) {
      List<Tensor> first = List.copyOf(file.tensors()).subList(0, all / 3);
      write(1, new Metadata("", Map.of()), first, all);
    }
    assertRefused("which file 1 of the model holds too");
  }

  @Test
  void aNameAloneMakesNoShard() throws IOException {
    Path alone = Files.copy(whole, directory.resolve("whole-00001-of-00001.gguf"));
    ModelFile.open(alone).close();
    Path part = Files.copy(whole, directory.resolve("b-00001-of-00002.gguf"));
    Files.copy(whole, directory.resolve("b-00002-of-00002.gguf"));
    assertThatThrownBy(() -> ModelFile.open(part))
        .hasMessageContaining("its name says that it is one of 2 files");
  }

  private static int tensors(Path path) {
    try (GgufFile file = GgufFile.open(path)) {
      return file.tensorNames().size();
    }
  }
}
