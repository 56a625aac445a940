package io.steelyard.models.catalogue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.models.ModelException;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.gguf.GgufWriter;
import io.steelyard.models.gguf.Metadata;
import io.steelyard.models.synth.PrecisionMix;
import io.steelyard.models.synth.Shape;
import io.steelyard.models.synth.Synth;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ModelResolverTest {
  private static final HubFetch.Patience PATIENCE =
      new HubFetch.Patience(
          Duration.ofSeconds(3),
          Duration.ofSeconds(10),
          Duration.ofSeconds(20),
          Duration.ofMillis(1));

  @TempDir Path directory;
  private final byte[] model = bytes(3_000_000, 1);
  private FakeHub hub;
  private Map<String, String> environment;
  private final Notes notes = new Notes();

  @BeforeEach
  void startHub() throws IOException {
    hub = new FakeHub(model);
    environment = new HashMap<>();
    environment.put("STEELYARD_CACHE", directory.resolve("cache").toString());
    environment.put("HF_ENDPOINT", hub.endpoint());
  }

  @AfterEach
  void stopHub() {
    hub.close();
  }

  @Test
  void downloadsOnceThenUsesTheCache() {
    ResolvedModel first = resolver().resolve("tiny", notes);
    ResolvedModel second = resolver().resolve("Default", notes);

    assertThat(first.source()).isEqualTo(hub.endpoint() + "/owner/repo/resolve/main/tiny.gguf");
    assertThat(first.file()).hasBinaryContent(model);
    assertThat(first.sha256()).isEqualTo(sum(model));
    assertThat(first.random()).isFalse();
    assertThat(second.name()).isEqualTo("tiny");
    assertThat(second.source()).isEqualTo("cache");
    assertThat(second.file()).isEqualTo(first.file());
    assertThat(hub.requests).containsExactly("/owner/repo/resolve/main/tiny.gguf");
    assertThat(notes.lastDone).isEqualTo(model.length);
    assertThat(notes.activities).noneMatch(activity -> activity.startsWith("checking"));
  }

  @Test
  void goesOnWhereADownloadBroke() {
    hub.cuts.set(3);

    assertThat(resolver().resolve("tiny", notes).file()).hasBinaryContent(model);
    assertThat(hub.requests).hasSize(4);
    assertThat(hub.requests.subList(1, 4)).allMatch(request -> request.contains(" bytes="));
    assertThat(notes.notes).hasSize(3).allMatch(note -> note.startsWith("download broke at"));
  }

  @Test
  void goesOnWithWhatAnEarlierRunLeft() throws IOException {
    writePart(Arrays.copyOf(model, 1_000_000));

    assertThat(resolver().resolve("tiny", notes).file()).hasBinaryContent(model);
    assertThat(hub.requests).singleElement().asString().endsWith(" bytes=1000000-");
    assertThat(part()).doesNotExist();
  }

  @Test
  void takesAFileThatAnEarlierRunDidntGetToName() throws IOException {
    writePart(model);

    assertThat(resolver().resolve("tiny", notes).file()).hasBinaryContent(model);
    assertThat(hub.requests).isEmpty();
  }

  @Test
  void beginsAgainWhereTheHubIgnoresRanges() throws IOException {
    writePart(Arrays.copyOf(model, 1_000_000));
    hub.honoursRanges = false;

    assertThat(resolver().resolve("tiny", notes).file()).hasBinaryContent(model);
    assertThat(hub.requests).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {1_000, 3_000_000, 4_000_000})
  void throwsAwayADamagedPart(int length) throws IOException {
    writePart(bytes(length, 99));

    assertThat(resolver().resolve("tiny", notes).file()).hasBinaryContent(model);
  }

  @Test
  void refusesAnotherFileByItsChecksum() {
    hub.file = bytes(model.length, 2);

    assertFails()
        .hasMessageContaining(hub.endpoint())
        .hasMessageContaining("it has another file, whose SHA-256 is " + sum(hub.file));
    assertThat(directory.resolve("cache/models")).isEmptyDirectory();
  }

  @ParameterizedTest
  @CsvSource({"true, instead of the expected", "false, longer than"})
  void refusesALargerFileBeforeFetchingAllOfIt(boolean announced, String reason) {
    hub.file = bytes(model.length * 3, 2);
    hub.announcesLength = announced;

    assertFails().hasMessageContaining("it has another file").hasMessageContaining(reason);
    assertThat(directory.resolve("cache/models")).isEmptyDirectory();
  }

  @ParameterizedTest
  @CsvSource({"404, no such file", "403, refuses access", "500, failed with HTTP 500"})
  void namesTheHubsRefusal(int status, String reason) {
    hub.status = status;

    assertFails().hasMessageContaining(reason);
  }

  @Test
  void saysEverySourceThatFailedAndTheWayOn() {
    environment.put("HF_ENDPOINT", "http://127.0.0.1:1");

    assertFails()
        .hasMessageContaining("model tiny can't be fetched")
        .hasMessageContaining("cache " + directory.resolve("cache") + ": not there")
        .hasMessageContaining("http://127.0.0.1:1/owner/repo/resolve/main/tiny.gguf: unreachable")
        .hasMessageContaining("pip llm-tiny 1.0: no pip is on the PATH")
        .hasMessageContaining("--model synth:llama-135m")
        .hasMessageContaining("local .gguf file");
  }

  @Test
  void reachesTheHubThroughTheProxyOfTheEnvironment() {
    environment.put("HTTP_PROXY", hub.endpoint());
    environment.put("HF_ENDPOINT", "http://hub.invalid");

    assertThat(resolver().resolve("tiny", notes).file()).hasBinaryContent(model);
  }

  @Test
  void takesUpABodyThatStops() {
    hub.gate = new CountDownLatch(1);
    HubFetch.Patience impatient =
        new HubFetch.Patience(
            PATIENCE.connect(), PATIENCE.answer(), Duration.ofMillis(300), PATIENCE.pause());
    Notes opening =
        new Notes() {
          @Override
          public void note(String line) {
            super.note(line);
            hub.gate.countDown();
          }
        };

    ResolvedModel resolved =
        new ModelResolver(environment, catalogue(), impatient).resolve("tiny", opening);

    assertThat(resolved.file()).hasBinaryContent(model);
    assertThat(opening.notes).singleElement().asString().contains("nothing came for 0.3 s");
  }

  @Test
  void fetchesAgainWhatWasDamagedInTheCache() throws IOException {
    Path file = resolver().resolve("tiny", notes).file();
    byte[] damaged = model.clone();
    damaged[1_234_567] ^= 1;
    Files.write(file, damaged);
    Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));

    assertThat(resolver().resolve("tiny", notes).file()).hasBinaryContent(model);
    assertThat(hub.requests).hasSize(2);
    assertThat(notes.notes).anyMatch(note -> note.contains("is damaged; fetching it again"));
  }

  @Test
  void pullsAgainByForceAlone() {
    resolver().pull("tiny", false, notes);
    resolver().pull("tiny", false, notes);
    assertThat(hub.requests).hasSize(1);

    assertThat(resolver().pull("tiny", true, notes).file()).hasBinaryContent(model);
    assertThat(hub.requests).hasSize(2);
  }

  @Test
  void letsASecondThreadWaitForTheFirst() throws Exception {
    hub.gate = new CountDownLatch(1);
    CompletableFuture<ResolvedModel> first =
        CompletableFuture.supplyAsync(() -> resolver().resolve("tiny", new Notes()));
    awaitRequest();

    ResolvedModel second = resolver().resolve("tiny", opensGateOn("another thread"));

    assertThat(second.source()).isEqualTo("cache");
    assertThat(first.get(30, TimeUnit.SECONDS).file()).hasBinaryContent(model);
    assertThat(hub.requests).hasSize(1);
  }

  @Test
  void letsASecondProcessWaitForTheFirst() throws Exception {
    hub.gate = new CountDownLatch(1);
    Process first = startProcess();
    awaitRequest();

    ResolvedModel second = resolver().resolve("tiny", opensGateOn("another process"));

    assertThat(second.source()).isEqualTo("cache");
    assertThat(second.file()).hasBinaryContent(model);
    assertThat(new String(first.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .startsWith(hub.endpoint());
    assertThat(first.waitFor()).isZero();
    assertThat(hub.requests).hasSize(1);
  }

  @Test
  void goesOnAfterAProcessWasKilled() throws Exception {
    hub.gate = new CountDownLatch(1);
    Process killed = startProcess();
    while (!Files.exists(part()) || Files.size(part()) < model.length / 2) {
      assertThat(killed.isAlive()).isTrue();
      Thread.onSpinWait();
    }
    killed.destroyForcibly().waitFor();
    hub.gate.countDown();

    assertThat(resolver().resolve("tiny", notes).file()).hasBinaryContent(model);
    assertThat(hub.requests.getLast()).endsWith(" bytes=" + model.length / 2 + "-");
  }

  @Test
  void saysThatTheCacheCantBeWritten() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "x");
    environment.put("STEELYARD_CACHE", file.toString());

    assertFails()
        .hasMessageContaining("the model cache " + file + " can't be written")
        .hasMessageContaining("STEELYARD_CACHE");
  }

  @Test
  void placesTheCacheAsTheEnvironmentSays() {
    assertThat(cacheOf(Map.of("HOME", "/h"))).isEqualTo(Path.of("/h/.cache/steelyard"));
    assertThat(cacheOf(Map.of("HOME", "/h", "XDG_CACHE_HOME", "/x")))
        .isEqualTo(Path.of("/x/steelyard"));
    assertThat(cacheOf(Map.of("XDG_CACHE_HOME", "/x", "STEELYARD_CACHE", "/s")))
        .isEqualTo(Path.of("/s"));
  }

  @Test
  void takesThePathOfALocalFile() {
    Path file = directory.resolve("mine.gguf");
    new GgufWriter(new Metadata("m", Map.of("general.architecture", "llama")))
        .add("w", DataType.F32, new long[] {4}, (from, part) -> {})
        .write(file, ProgressListener.NONE);

    ResolvedModel resolved = resolver().resolve(file.toString(), notes);
    Path relative = Path.of("").toAbsolutePath().relativize(file);

    assertThat(resolver().resolve(relative.toString(), notes).file().normalize()).isEqualTo(file);
    assertThat(resolved.file()).isEqualTo(file);
    assertThat(resolved.source()).isEqualTo("local file");
    assertThat(resolved.random()).isFalse();
    assertThat(resolved.sha256()).hasSize(64);
    assertThat(notes.activities).containsExactly("checking mine.gguf");
  }

  @Test
  void recognisesALocalFileOfRandomWeights() {
    Path file = directory.resolve("random.gguf");
    Shape shape =
        new Shape("tiny", "none", "llama", 1, 64, 2, 1, 64, 300, 64, 1e4f, 1e-5f, true, false);
    Synth.write(shape, PrecisionMix.F16, 1, file, ProgressListener.NONE);

    assertThat(resolver().resolve(file.toString(), notes).random()).isTrue();
  }

  @Test
  void saysWhyALocalFileIsNoModel() throws IOException {
    Path file = Files.writeString(directory.resolve("text.gguf"), "hello there, no model");

    assertThatThrownBy(() -> resolver().resolve(file.toString(), notes))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("is not a GGUF file");
    assertThatThrownBy(() -> resolver().resolve("dir/absent.gguf", notes))
        .hasMessage("there is no file dir/absent.gguf");
  }

  @ParameterizedTest
  @CsvSource({
    "tny, did you mean tiny",
    "defalt, did you mean default",
    "llama-135m, did you mean synth:llama-135m",
    "something-else-entirely, models are tiny",
    "' ', models are tiny",
    "synth:llama-2b, llama-135m",
    "synth:llama-135m:Q9, 'F16, BF16, Q8_0, Q4_0, Q4_K_M, Q5_K_M, Q6_K'",
    "synth:llama-135m:F16:x, the seed 'x' is no whole number",
    "synth:llama-135m:F16:1:2, too many parts"
  })
  void helpsWithUnknownNames(String name, String advice) {
    assertThatThrownBy(() -> resolver().resolve(name, notes))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining(advice);
  }

  @Test
  void makesARandomModelOnce() {
    ResolvedModel first = resolver().resolve("synth:llama-135m:Q4_0", notes);
    ResolvedModel second = resolver().resolve("synth:LLAMA-135M:q4_0:1", notes);

    assertThat(first.source()).isEqualTo("generated");
    assertThat(first.random()).isTrue();
    assertThat(first.name()).isEqualTo("synth:llama-135m:Q4_0:1");
    assertThat(second.source()).isEqualTo("cache");
    assertThat(second.file()).isEqualTo(first.file());
    assertThat(second.sha256()).isEqualTo(first.sha256());
    assertThat(resolver().list())
        .filteredOn(listing -> listing.cached().isPresent())
        .extracting(ModelListing::name)
        .containsExactly("synth:llama-135m:Q4_0:1");
  }

  @Test
  void listsWhatCanBeAskedFor() {
    resolver().resolve("tiny", notes);
    List<ModelListing> listings = resolver().list();

    assertThat(listings)
        .extracting(ModelListing::name)
        .containsExactly(
            "tiny",
            "synth:llama-135m",
            "synth:llama-1b",
            "synth:qwen2-7b",
            "synth:dream-s",
            "synth:dream-m",
            "synth:dream-l");
    assertThat(listings.getFirst().cached()).isPresent();
    assertThat(listings.getFirst().bytes()).isEqualTo(model.length);
  }

  @Test
  void bringsTheDefaultModelInItsCatalogue() {
    Catalogue.Entry entry = Catalogue.bundled().find("SmolLM2-135M-Instruct").orElseThrow();

    assertThat(entry.name()).isEqualTo(ModelResolver.DEFAULT_MODEL);
    assertThat(Catalogue.bundled().find("default")).contains(entry);
    assertThat(entry.bytes()).isEqualTo(98_362_432);
    assertThat(entry.sha256()).hasSize(64).startsWith("b179c952").endsWith("28110db53");
    assertThat(entry.sources()).hasExactlyElementsOfTypes(Source.Hub.class, Source.Pip.class);
  }

  private AbstractThrowableAssert<?, ? extends Throwable> assertFails() {
    return assertThatThrownBy(() -> resolver().resolve("tiny", notes))
        .isInstanceOf(ModelException.class);
  }

  private ModelResolver resolver() {
    return new ModelResolver(environment, catalogue(), PATIENCE);
  }

  private static Path cacheOf(Map<String, String> environment) {
    return new ModelResolver(environment).cacheDirectory();
  }

  private Catalogue catalogue() {
    return Catalogue.parse(catalogueJson());
  }

  private byte[] catalogueJson() {
    return FakeCatalogue.json(model.length, sum(model));
  }

  private Process startProcess() throws IOException {
    Path catalogue = Files.write(directory.resolve("catalogue.json"), catalogueJson());
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            ResolveOnce.class.getName(),
            environment.get("STEELYARD_CACHE"),
            hub.endpoint(),
            catalogue.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private Notes opensGateOn(String words) {
    return new Notes() {
      @Override
      public void note(String line) {
        super.note(line);
        if (line.contains(words)) {
          hub.gate.countDown();
        }
      }
    };
  }

  private void awaitRequest() {
    while (hub.requests.isEmpty()) {
      Thread.onSpinWait();
    }
  }

  private Path part() {
    return directory.resolve("cache/models/tiny.gguf.part");
  }

  private void writePart(byte[] bytes) throws IOException {
    Files.createDirectories(part().getParent());
    Files.write(part(), bytes);
  }

  private static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new SplittableRandom(seed).nextBytes(bytes);
    return bytes;
  }

  private static String sum(byte[] bytes) {
    return FakeCatalogue.sum(bytes);
  }
}
