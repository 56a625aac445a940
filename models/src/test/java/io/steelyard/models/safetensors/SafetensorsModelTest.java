package io.steelyard.models.safetensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.Sha256;
import io.steelyard.models.catalogue.ModelResolver;
import io.steelyard.models.catalogue.ResolveListener;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.models.gguf.GgufFile;
import io.steelyard.models.gguf.Metadata;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A folder of safetensors is the model that llama.cpp's converter makes of it, bit for bit. */
class SafetensorsModelTest {
  /** Words for people, which depend on where the model came from. */
  private static final Set<String> DESCRIPTIONS = Set.of("general.name", "general.size_label");

  static final List<String> MODELS = Fixtures.NAMES;

  @TempDir Path directory;

  @ParameterizedTest
  @FieldSource("MODELS")
  void hasTheTensorsOfTheConvertedFile(String name) throws IOException {
    JsonNode golden = golden(name);
    try (ModelFile model = ModelFile.open(Fixtures.folder(name, directory))) {
      Map<String, String> expected = new LinkedHashMap<>();
      for (JsonNode tensor : golden.get("tensors")) {
        expected.put(tensor.get(0).asString(), tensor.get(1).asString() + sha(tensor.get(3)));
      }
      Map<String, String> found = new LinkedHashMap<>();
      for (Tensor tensor : model.tensors()) {
        found.put(tensor.name(), tensor.type() + sha256(tensor.data()));
      }

      assertThat(found).isEqualTo(expected);
      for (JsonNode tensor : golden.get("tensors")) {
        long[] shape = shape(tensor.get(2));
        Tensor made = model.require(tensor.get(0).asString());
        assertThat(made.columns()).isEqualTo(shape[0]);
        assertThat(made.rows() * made.columns()).isEqualTo(product(shape));
      }
    }
  }

  @ParameterizedTest
  @FieldSource("MODELS")
  void hasTheMetadataOfTheConvertedFile(String name) throws IOException {
    Map<String, String> expected = new TreeMap<>();
    for (Map.Entry<String, JsonNode> entry : golden(name).get("metadata").properties()) {
      JsonNode value = entry.getValue().get(1);
      String type = entry.getValue().get(0).asString();
      expected.put(entry.getKey(), type + " " + text(type, value));
    }
    try (ModelFile model = ModelFile.open(Fixtures.folder(name, directory))) {
      Metadata metadata = model.metadata();
      Map<String, String> found = new TreeMap<>();
      for (String key : metadata.keys()) {
        found.put(key, metadata.type(key).label() + " " + text(metadata.raw(key)));
      }
      expected.keySet().removeAll(DESCRIPTIONS);
      found.keySet().removeAll(DESCRIPTIONS);

      assertThat(found).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @FieldSource("MODELS")
  void writesWhatItPresents(String name) throws IOException {
    Path out = directory.resolve("out.gguf");
    JsonNode golden = golden(name);
    try (SafetensorsModel model = SafetensorsModel.open(Fixtures.folder(name, directory))) {
      model.writeGguf(out, ProgressListener.NONE);
    }
    try (GgufFile file = GgufFile.open(out)) {
      assertThat(file.tensorNames()).hasSize(golden.get("tensors").size());
      for (JsonNode tensor : golden.get("tensors")) {
        assertThat(sha256(file.require(tensor.get(0).asString()).data()))
            .as(tensor.get(0).asString())
            .isEqualTo(sha(tensor.get(3)));
      }
    }
  }

  @Test
  void convertsMatricesToTheTypeAskedForAndLeavesVectorsAlone() throws IOException {
    Path folder = Fixtures.folder("llama-tied", directory);
    try (ModelFile stored = SafetensorsModel.open(folder);
        ModelFile eight = SafetensorsModel.open(folder, DataType.Q8_0)) {
      assertThat(eight.metadata().integer("general.file_type")).isEqualTo(7);
      assertThat(eight.require("blk.0.attn_q.weight").type()).isEqualTo(DataType.Q8_0);
      assertThat(eight.require("output_norm.weight").type()).isEqualTo(DataType.F32);
      assertThat(eight.parameters()).isEqualTo(stored.parameters());
      assertThat(eight.bytesByType().get(DataType.Q8_0)).isPositive();
    }
  }

  @Test
  void oneFileOfSeveralStandsForTheWholeModel() throws IOException {
    Path folder = Fixtures.folder("qwen2", directory);
    try (ModelFile whole = ModelFile.open(folder);
        ModelFile byFile = ModelFile.open(folder.resolve("model-00002-of-00003.safetensors"));
        ModelFile byIndex = ModelFile.open(folder.resolve("model.safetensors.index.json"))) {
      assertThat(byFile.tensorNames()).containsExactlyElementsOf(whole.tensorNames());
      assertThat(byIndex.tensorNames()).containsExactlyElementsOf(whole.tensorNames());
      assertThat(whole.format()).isEqualTo("safetensors, 3 files");
    }
  }

  @Test
  void itsChecksumIsThatOfTheTensorFilesInTheOrderOfTheirNames() throws IOException {
    Path folder = Fixtures.folder("qwen2", directory);
    MessageDigest digest = Sha256.digest();
    for (int shard = 1; shard <= 3; shard++) {
      digest.update(
          Files.readAllBytes(folder.resolve("model-0000%d-of-00003.safetensors".formatted(shard))));
    }

    ResolvedModel resolved =
        new ModelResolver(Map.of("STEELYARD_CACHE", directory.resolve("cache").toString()))
            .resolve(folder.toString(), ResolveListener.NONE);

    assertThat(resolved.sha256()).isEqualTo(Sha256.hex(digest));
    assertThat(resolved.file()).isEqualTo(folder);
    assertThat(ModelFile.bytes(folder)).isEqualTo(207_296 + 174_384 + 149_872);
  }

  @Test
  void anIndexThatLeavesTheFolderIsRefused() throws IOException {
    Path folder = Fixtures.folder("qwen2", directory);
    edit(folder.resolve("model.safetensors.index.json"), "model-00001-of", "../model-00001-of");

    assertThatThrownBy(() -> ModelFile.open(folder))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("model.safetensors.index.json")
        .hasMessageContaining("no .safetensors file of its folder");
  }

  @Test
  void anIndexThatPromisesMoreThanThereIsIsRefused() throws IOException {
    Path folder = Fixtures.folder("qwen2", directory);
    edit(
        folder.resolve("model.safetensors.index.json"),
        "\"weight_map\": {",
        "\"weight_map\": {\"extra\": \"model-00001-of-00003.safetensors\",");

    assertThatThrownBy(() -> ModelFile.open(folder))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("model-00001-of-00003.safetensors lacks tensor 'extra'");
  }

  @Test
  void aMissingShardIsNamed() throws IOException {
    Path folder = Fixtures.folder("qwen2", directory);
    Files.delete(folder.resolve("model-00002-of-00003.safetensors"));

    assertThatThrownBy(() -> ModelFile.open(folder))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("model-00002-of-00003.safetensors can't be read")
        .hasMessageContaining("no such file");
  }

  @Test
  void anUnknownFamilyIsRefusedWithTheKnownOnes() throws IOException {
    Path folder = Fixtures.folder("llama", directory);
    edit(folder.resolve("config.json"), "\"model_type\": \"llama\"", "\"model_type\": \"mamba\"");

    assertThatThrownBy(() -> ModelFile.open(folder))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("config.json: the model is of type 'mamba'")
        .hasMessageContaining("qwen3_moe");
  }

  @Test
  void anAbsurdConfigurationIsRefused() throws IOException {
    Path folder = Fixtures.folder("llama", directory);
    edit(folder.resolve("config.json"), "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3");

    assertThatThrownBy(() -> ModelFile.open(folder))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("no multiple of 2 for each of 3 heads");
  }

  @Test
  void aFolderWithoutAModelSaysWhatItNeeds() throws IOException {
    Files.writeString(directory.resolve("config.json"), "{\"model_type\": \"llama\"}");

    assertThatThrownBy(() -> ModelFile.open(directory))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("holds no .safetensors file");
  }

  @Test
  void aModelWithoutATokenizerStillHasItsTensors() throws IOException {
    Path folder = Fixtures.folder("llama", directory);
    Files.delete(folder.resolve("tokenizer.json"));

    try (ModelFile model = ModelFile.open(folder)) {
      assertThat(model.metadata().string("tokenizer.ggml.model")).isEqualTo("no_vocab");
      assertThat(model.tensor("output.weight")).isPresent();
    }
  }

  @Test
  void aChangeWhileItIsOpenIsNoticed() throws IOException {
    Path folder = Fixtures.folder("qwen2", directory);
    try (ModelFile model = ModelFile.open(folder)) {
      Path shard = folder.resolve("model-00003-of-00003.safetensors");
      Files.delete(shard);
      Files.writeString(shard, "other");

      assertThatThrownBy(model::checkUnchanged)
          .isInstanceOf(ModelException.class)
          .hasMessageContaining("model-00003-of-00003.safetensors was changed");
    }
  }

  @Test
  void weightsThatChangeWhileTheyAreConvertedLeaveNoFile() throws IOException {
    Path folder = Fixtures.folder("llama", directory);
    Path out = directory.resolve("out.gguf");
    Path weights = folder.resolve("model.safetensors");
    try (SafetensorsModel model = SafetensorsModel.open(folder)) {
      ProgressListener touching =
          (done, total) -> weights.toFile().setLastModified(1_000_000_000_000L);

      assertThatThrownBy(() -> model.writeGguf(out, touching))
          .isInstanceOf(ModelException.class)
          .hasMessageContaining("model.safetensors was changed");
    }
    assertThat(directory).isDirectoryNotContaining("glob:**.{gguf,part}");
  }

  private static void edit(Path file, String from, String to) throws IOException {
    String text = Files.readString(file);
    assertThat(text).contains(from);
    Files.writeString(file, text.replace(from, to));
  }

  private static JsonNode golden(String name) {
    return JsonMapper.shared().readTree(Fixtures.resource(name).resolve("golden.json"));
  }

  private static String sha(JsonNode node) {
    return " " + node.asString();
  }

  private static String sha256(MemorySegment data) {
    MessageDigest digest = Sha256.digest();
    digest.update(data.toArray(ValueLayout.JAVA_BYTE));
    return " " + Sha256.hex(digest);
  }

  private static long[] shape(JsonNode node) {
    return StreamSupport.stream(node.spliterator(), false).mapToLong(JsonNode::asLong).toArray();
  }

  private static long product(long[] shape) {
    long product = 1;
    for (long size : shape) {
      product *= size;
    }
    return product;
  }

  /** A golden value as {@link Metadata#raw} would show it. */
  private static String text(String type, JsonNode value) {
    if (value.isArray()) {
      List<String> parts = new ArrayList<>();
      value.forEach(each -> parts.add(each.asString()));
      return parts.toString();
    }
    return type.equals("float32") ? Float.toString((float) value.asDouble()) : value.asString();
  }

  private static String text(Object value) {
    return value instanceof List<?> list
        ? list.stream().map(String::valueOf).toList().toString()
        : String.valueOf(value);
  }

  @Test
  void everyFixtureIsTested() throws IOException {
    try (var folders = Files.list(Fixtures.resource("llama").getParent())) {
      assertThat(new TreeSet<>(Fixtures.NAMES))
          .containsExactlyElementsOf(
              folders
                  .filter(Files::isDirectory)
                  .map(folder -> folder.getFileName().toString())
                  .sorted()
                  .toList());
    }
  }
}
