package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.record.Summary;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** An engine against itself is never faster or slower: real runs on the default model. */
@Tag("soak")
final class AgainstItselfTest {
  @TempDir private Path folder;

  @RepeatedTest(20)
  void anEngineAgainstItselfIsNeitherFasterNorSlower() throws Exception {
    List<Summary.Comparison> comparisons =
        RealRun.compare(folder, "-e", "steelyard", "-e", "steelyard:label=again", "--quick");

    assertThat(comparisons).hasSize(5);
    assertThat(comparisons)
        .extracting(Summary.Comparison::verdict)
        .allMatch(verdict -> verdict.equals("equivalent") || verdict.equals("inconclusive"));
  }
}
