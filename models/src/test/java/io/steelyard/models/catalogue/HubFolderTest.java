package io.steelyard.models.catalogue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.AbstractStringAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Models that are folders, pulled from a hub on this machine that breaks on demand. */
@Timeout(120)
class HubFolderTest {
  private static final String TOKENIZER = "/io/steelyard/models/safetensors/tokenizer.json";
  private static final String SECOND = "model-00002-of-00003.safetensors";
  private static final HubFetch.Patience PATIENCE =
      new HubFetch.Patience(
          Duration.ofSeconds(3),
          Duration.ofSeconds(10),
          Duration.ofSeconds(20),
          Duration.ofMillis(1));

  @TempDir Path directory;
  private FakeRepository hub;
  private final Map<String, String> environment = new HashMap<>();
  private final Notes notes = new Notes();

  @BeforeEach
  void startHub() throws IOException, URISyntaxException {
    hub = new FakeRepository();
    Path fixtures = Path.of(HubFolderTest.class.getResource(TOKENIZER).toURI()).getParent();
    take(fixtures.resolve("qwen2"), "{config.json,model*}");
    take(fixtures, "tokenizer*.json");
    hub.files.put("README.md", bytes("not wanted"));
    hub.files.put("modeling_qwen2.py", bytes("raise SystemExit"));
    hub.files.put("other.bin", new byte[9_999]);
    environment.put("STEELYARD_CACHE", directory.toString());
    environment.put("HF_ENDPOINT", hub.endpoint());
  }

  @AfterEach
  void stopHub() {
    hub.close();
  }

  private void take(Path from, String pattern) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(from, pattern)) {
      for (Path file : files) {
        hub.files.put(file.getFileName().toString(), Files.readAllBytes(file));
      }
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private ModelResolver resolver() {
    String json =
        """
        {"models": [{"name": "folder", "aliases": [], "file": "folder", "bytes": 500000,
          "licence": "Strict Licence", "standIn": "synth:llama-135m", "sources": [
            {"kind": "repository", "repository": "owner/model", "gated": %s}]}]}
        """
            .formatted(!hub.token.isEmpty());
    return new ModelResolver(environment, Catalogue.parse(bytes(json)), PATIENCE);
  }

  private Path folder() {
    return directory.resolve("models/folder");
  }

  private AbstractStringAssert<?> failure() {
    return assertThatThrownBy(() -> resolver().pull("folder", false, notes))
        .isInstanceOf(ModelException.class)
        .message()
        .doesNotContain("\n");
  }

  private void assertWhole(ResolvedModel model) throws IOException {
    assertThat(model.file()).isEqualTo(folder());
    try (ModelFile file = ModelFile.open(model.file())) {
      assertThat(file.format()).isEqualTo("safetensors, 3 files");
      assertThat(file.metadata().string("tokenizer.ggml.model")).isEqualTo("gpt2");
    }
    for (String name : List.of("config.json", "tokenizer.json", SECOND)) {
      assertThat(folder().resolve(name)).hasBinaryContent(hub.files.get(name));
    }
    assertThat(directory.resolve("models")).isDirectoryNotContaining("glob:**.part");
    assertThat(folder()).isDirectoryNotContaining("glob:**.{part,py,md,new}");
  }

  @Test
  void pullsAllThatAModelNeeds() throws IOException {
    ResolvedModel model = resolver().pull("folder", false, notes);

    assertWhole(model);
    assertThat(model.source()).isEqualTo(hub.endpoint() + "/owner/model");
    assertThat(model.sha256()).hasSize(64);
    assertThat(folder()).isDirectoryNotContaining("glob:**other.bin");
    assertThat(resolver().list().getFirst().cached()).hasValue(folder());
  }

  @Test
  void aModelThatIsThereIsNotAskedFor() throws IOException {
    ResolvedModel first = resolver().pull("folder", false, notes);
    hub.close();

    ResolvedModel second = resolver().resolve("folder", notes);

    assertThat(second.source()).isEqualTo("cache");
    assertThat(second.sha256()).isEqualTo(first.sha256());
  }

  @Test
  void goesOnWithinTheFileWhereItBroke() throws IOException {
    hub.cut = SECOND;
    hub.status = 200;
    failure().contains("model folder can't be fetched", "what has come is kept");
    assertThat(folder()).doesNotExist();
    assertThat(resolver().list().getFirst().cached()).isEmpty();
    hub.cut = "";
    int before = hub.requests.size();

    assertWhole(resolver().pull("folder", false, notes));

    List<String> asked = hub.requests.subList(before, hub.requests.size());
    assertThat(asked).hasSize(2);
    assertThat(asked.getFirst()).startsWith(SECOND + " from ");
    assertThat(asked.getLast()).isEqualTo("model-00003-of-00003.safetensors");
  }

  @Test
  void aNewRevisionReplacesWhatDiffers() throws IOException {
    hub.cut = SECOND;
    failure();
    hub.cut = "";
    hub.revision = "b".repeat(40);
    byte[] config = hub.files.get("config.json");
    hub.files.put("config.json", bytes(new String(config, StandardCharsets.UTF_8) + " "));
    int before = hub.requests.size();

    assertWhole(resolver().pull("folder", false, notes));

    assertThat(hub.requests.subList(before, hub.requests.size()))
        .contains("config.json")
        .doesNotContain("tokenizer.json");
    assertThat(Files.readString(folder().resolve(HubFolder.MANIFEST)))
        .contains("b".repeat(40), "\"sha256\"");
  }

  @ParameterizedTest
  @CsvSource({SECOND + ", SHA-256", "config.json, git blob id"})
  void aFileWithAnotherChecksumIsRefused(String name, String kind) {
    hub.turned = name;

    failure().contains("it has another file, whose " + kind + " is ");
    assertThat(folder()).doesNotExist();
    assertThat(directory.resolve("models/folder.part").resolve(name)).doesNotExist();
  }

  @Test
  void aShardThatTheHubHasLostIsNoModel() {
    hub.gone = SECOND;
    failure().contains("it has no such file (HTTP 404)");
    hub.gone = "";
    hub.files.remove(SECOND);
    failure().contains("names " + SECOND + ", which the repository doesn't hold");
    assertThat(folder()).doesNotExist();
  }

  @Test
  void aGatedModelSaysHowToGiveAToken() throws IOException {
    hub.token = "hf_secret";
    failure()
        .contains("it refuses access (HTTP 401)", "Strict Licence", "HF_TOKEN")
        .contains(hub.endpoint() + "/owner/model");
    environment.put("HF_TOKEN", "hf_secret");

    assertWhole(resolver().pull("folder", false, notes));
    assertThat(hub.strayTokens).as("tokens that reached another host").isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"403, refuses access (HTTP 403)", "404, no such file (HTTP 404)", "500, HTTP 500"})
  void theHubsRefusalIsNamed(int status, String said) {
    hub.status = status;
    failure().contains(said);
  }

  @Test
  void aHubOutOfReachIsNamed() {
    environment.put("HF_ENDPOINT", "http://127.0.0.1:1");
    failure().contains("http://127.0.0.1:1/owner/model", "unreachable", "--model synth:llama-135m");
  }

  @Test
  void aFileThatChangedInTheCacheIsNoticed() throws IOException {
    resolver().pull("folder", false, notes);
    byte[] shard = Files.readAllBytes(folder().resolve(SECOND));
    shard[shard.length - 1] ^= 1;
    Files.write(folder().resolve(SECOND), shard);

    assertWhole(resolver().resolve("folder", notes));
    assertThat(notes.notes).anyMatch(note -> note.endsWith("is damaged; fetching it again"));
  }

  @Test
  void aMissingShardInTheCacheIsNoticed() throws IOException {
    resolver().pull("folder", false, notes);
    Files.delete(folder().resolve(SECOND));

    assertWhole(resolver().resolve("folder", notes));
  }

  @Test
  void aRepositoryWithoutWeightsIsNoModel() {
    hub.files.keySet().removeIf(name -> name.startsWith("model"));
    failure().contains("holds neither model.safetensors nor an index of shards");
  }

  @Test
  void aModelForWhichThereIsNoSpaceIsRefusedBeforeItsFirstByte() {
    hub.files.put("model.safetensors.index.json", bytes("{}"));
    hub.huge = SECOND;
    failure().contains("more bytes are needed and", "are free", "STEELYARD_CACHE");
    assertThat(hub.requests).isEmpty();
  }

  @Test
  void theCatalogueHasFoldersWithLicences() {
    assertThat(Catalogue.bundled().find("diffucoder-7b").orElseThrow().sources())
        .containsExactly(new Source.Repository("apple/DiffuCoder-7B-Instruct", false));
    for (Catalogue.Entry entry : Catalogue.bundled().entries()) {
      assertThat(entry.licence()).as(entry.name()).isNotBlank();
      assertThat(entry.isFolder()).as(entry.name()).isEqualTo(entry.sha256().isEmpty());
      assertThat(entry.bytes()).isPositive();
    }
    assertThat(Catalogue.bundled().entries())
        .extracting(Catalogue.Entry::name)
        .doesNotHaveDuplicates()
        .contains("gpt2", "llama-3.1-70b", "qwen2.5-7b", "qwen3-8b", "gemma-3-270m");
  }
}
