package io.steelyard.history.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.history.HistoryException;
import io.steelyard.history.HistoryStore;
import io.steelyard.history.RunFilter;
import io.steelyard.history.RunRecord;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds of every importer: good files are read, all others refused in one sentence. */
class ImportersTest {
  private static final long SEED = 20_260_204;

  @TempDir private Path folder;

  static List<Sample> samples() {
    return Sample.ALL;
  }

  static Stream<Sample> jsonSamples() {
    return Sample.ALL.stream().filter(Sample::isJson);
  }

  private Path file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  private void assertRefused(Importer importer, Path file, String... parts) {
    assertThatThrownBy(() -> importer.read(file))
        .as(importer.name())
        .isInstanceOfSatisfying(
            HistoryException.class,
            e ->
                assertThat(e.getMessage())
                    .contains(file.toString())
                    .doesNotContain("\n")
                    .hasSizeLessThan(1_000)
                    .contains(List.of(parts).isEmpty() ? new String[] {""} : parts));
  }

  @ParameterizedTest
  @MethodSource("samples")
  void aGoodFileIsReadAndKept(Sample sample) throws IOException {
    Path file = file(sample.file(), sample.text());

    List<RunRecord> runs = sample.importer().read(file);

    assertThat(runs).isNotEmpty();
    try (HistoryStore store = HistoryStore.open(folder.resolve("history"))) {
      for (RunRecord run : runs) {
        assertThat(run.cells()).isNotEmpty();
        assertThat(store.add(run)).isEqualTo(HistoryStore.Outcome.ADDED);
      }
      for (RunRecord run : sample.importer().read(file)) {
        assertThat(store.add(run)).as("again").isEqualTo(HistoryStore.Outcome.ALREADY_THERE);
      }
      assertThat(store.list(RunFilter.all())).hasSameSizeAs(runs);
    }
  }

  @ParameterizedTest
  @MethodSource("samples")
  void theFormatIsToldByTheFile(Sample sample) throws IOException {
    Path file = file(sample.file(), sample.text());

    assertThat(Importers.read(file)).isEqualTo(sample.importer().read(file));
    assertThat(Importers.of(sample.importer().name())).isSameAs(sample.importer());
  }

  @ParameterizedTest
  @MethodSource("samples")
  void aByteOrderMarkIsNoMistake(Sample sample) throws IOException {
    Path file = file(sample.file(), "\ufeff" + sample.text());

    assertThat(sample.importer().read(file).getFirst().cells()).isNotEmpty();
  }

  @ParameterizedTest
  @MethodSource("samples")
  void emptyAndMissingFilesAreRefused(Sample sample) throws IOException {
    assertRefused(sample.importer(), file("empty", ""), "is empty");
    assertRefused(sample.importer(), file("blank", " \n\n "));
    assertRefused(sample.importer(), folder.resolve("missing"), "there is no such file");
    assertRefused(sample.importer(), folder, "it is a folder");
  }

  @ParameterizedTest
  @MethodSource("samples")
  void aFileOfAnotherFormatIsRefused(Sample sample) throws IOException {
    for (Sample other : Sample.ALL) {
      if (!other.equals(sample)) {
        assertRefused(sample.importer(), file("other-" + other.file(), other.text()));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("samples")
  void aFileThatIsCutOffIsRefusedOrWhole(Sample sample) throws IOException {
    cutOff(sample, 7);
  }

  @ParameterizedTest
  @MethodSource("samples")
  @Tag("soak")
  void aFileThatIsCutOffAnywhereIsRefusedOrWhole(Sample sample) throws IOException {
    cutOff(sample, 1);
  }

  private void cutOff(Sample sample, int step) throws IOException {
    String whole = sample.text();
    int cells = cells(sample.importer(), file(sample.file(), whole));
    for (int length = 1; length < whole.length(); length += step) {
      Path file = file("cut", whole.substring(0, length));
      try {
        // What is left may be a shorter file of whole rows; it is never a row with a part missing.
        int left = cells(sample.importer(), file);
        assertThat(sample.isLines() || left == cells)
            .as("%s cut at %d of %d gave %d cells", sample, length, whole.length(), left)
            .isTrue();
      } catch (HistoryException e) {
        assertThat(e.getMessage()).contains(file.toString()).doesNotContain("\n");
      }
    }
  }

  private static int cells(Importer importer, Path file) {
    return importer.read(file).stream().mapToInt(run -> run.cells().size()).sum();
  }

  @ParameterizedTest
  @MethodSource("samples")
  void changedBytesAreReadOrRefusedAndNothingElse(Sample sample) throws IOException {
    change(sample, 150);
  }

  @ParameterizedTest
  @MethodSource("samples")
  @Tag("soak")
  void bytesChangedManyTimesAreReadOrRefusedAndNothingElse(Sample sample) throws IOException {
    change(sample, 5_000);
  }

  private void change(Sample sample, int times) throws IOException {
    Random random = new Random(SEED);
    byte[] whole = sample.text().getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < times; i++) {
      byte[] changed = whole.clone();
      for (int n = random.nextInt(4); n >= 0; n--) {
        changed[random.nextInt(changed.length)] = (byte) random.nextInt(256);
      }
      Path file = Files.write(folder.resolve("changed"), changed);
      assertThatCode(
              () -> {
                try {
                  sample.importer().read(file);
                } catch (HistoryException e) {
                  assertThat(e.getMessage()).contains(file.toString());
                }
              })
          .as("%s, seed %d, change %d", sample, SEED, i)
          .doesNotThrowAnyException();
    }
  }

  @ParameterizedTest
  @MethodSource("jsonSamples")
  void deepNestingIsRefused(Sample sample) throws IOException {
    String deep = "[".repeat(100_000);
    assertRefused(sample.importer(), file("deep", deep));
    assertRefused(sample.importer(), file("deep2", sample.with("{\"x\":".repeat(100_000))));
  }

  @ParameterizedTest
  @MethodSource("jsonSamples")
  void hugeNumbersAreRefused(Sample sample) throws IOException {
    assertRefused(sample.importer(), file("digits", sample.with("1" + "0".repeat(100_000))));
    assertRefused(sample.importer(), file("infinite", sample.with("1e999")), "not finite");
    assertRefused(sample.importer(), file("exponent", sample.with("1e999999999")));
    assertRefused(sample.importer(), file("large", sample.with("1e300")), "far too large");
  }

  @ParameterizedTest
  @MethodSource("samples")
  void whatIsNoFiniteTimeIsRefused(Sample sample) throws IOException {
    for (String value : List.of("NaN", "Infinity", "-Infinity", "nan", "inf", "-1", "-0.5", "x")) {
      String text = sample.with(value);
      assertThat(text).as(sample.toString()).isNotEqualTo(sample.text());
      assertRefused(sample.importer(), file("value", text));
    }
  }

  @ParameterizedTest
  @MethodSource("jsonSamples")
  void aNameThatStandsTwiceIsRefused(Sample sample) throws IOException {
    String text = sample.text().replaceFirst("\\{", "{\"twice\":1,\"twice\":2,");

    assertRefused(sample.importer(), file("twice", text));
  }

  @ParameterizedTest
  @MethodSource("jsonSamples")
  void longArraysAreRefusedBeforeTheyAreKept(Sample sample) throws IOException {
    // More values than are read of one file, each as short as it can be.
    String values = "[" + "1,".repeat(5_000_000) + "1]";

    assertRefused(sample.importer(), file("long", sample.with(values)), "larger or deeper");
  }

  @Test
  void aFormatThatIsNotKnownIsRefusedWithTheOnesThatAre() throws IOException {
    assertThatThrownBy(() -> Importers.of("xml"))
        .isInstanceOf(HistoryException.class)
        .hasMessageContaining("llama-bench-json")
        .hasMessageContaining("hyperfine");
    Path file = file("notes.txt", "nothing of this kind");
    assertThatThrownBy(() -> Importers.read(file))
        .isInstanceOf(HistoryException.class)
        .hasMessageContaining(file.toString());
  }

  @Test
  void timesThatNoRunCanHaveStartedAtAreRefused() throws IOException {
    for (String time : List.of("+999999999-12-31T23:59:59+00:00", "1912-06-23T00:00:00+00:00")) {
      Path file =
          file(
              "clock.json",
              """
              {"context": {"date": "%s"}, "benchmarks": [{"name": "a", "real_time": 1.0}]}
              """
                  .formatted(time));
      assertThatThrownBy(() -> Importers.of("google-benchmark").read(file))
          .isInstanceOf(HistoryException.class)
          .hasMessageContaining("the run clock can't have started");
    }
  }

  @Test
  void textsThatATerminalWouldObeyAreRefused() throws IOException {
    String text =
        """
        {"results": [{"command": "\\u001b[2J", "mean": 1.0}]}
        """;

    assertRefused(
        Importers.of("hyperfine"), file("escape.json", text), "results[0].command", "U+001B");
  }
}
