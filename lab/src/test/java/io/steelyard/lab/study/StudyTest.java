package io.steelyard.lab.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.steelyard.lab.TestData;
import io.steelyard.lab.record.Json;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StudyTest {
  @Test
  void metricsOfTheSameProcessesShareAWorkload() {
    Study study =
        TestData.study(List.of("prefill", "decode", "coldstart", "load", "memory"), "a", "b");

    assertThat(study.workloads())
        .containsExactly(
            Workload.prefill(512, 0), Workload.decode(64, 0), Workload.start(512, 64, 0));
  }

  @Test
  void workloadsComeInTheOrderOfTheMetrics() {
    assertThat(TestData.study(List.of("memory", "decode", "forward"), "a").workloads())
        .extracting(Workload::name)
        .containsExactly("start", "tg64", "fw4x512");
  }

  @Test
  void forwardPassesOfAGridHaveSizesOfTheirOwn() {
    Study study = TestData.study(List.of(Study.FORWARD + "1x64", Study.FORWARD + "16x128"), "a");

    assertThat(study.workloads())
        .containsExactly(Workload.forward(1, 64), Workload.forward(16, 128));
  }

  @Test
  void aLoadFromDiskIsAProcessOfItsOwn() {
    Study study = TestData.study(List.of("load", Study.FROM_DISK), "a");

    assertThat(study.workloads()).extracting(Workload::name).containsExactly("start", "start-disk");
    assertThat(study.workloads()).extracting(Workload::isFromDisk).containsExactly(false, true);
  }

  @Test
  void everyLabelDoesEveryWorkload() {
    assertThat(TestData.study(List.of("prefill", "load"), "a", "b").cells())
        .extracting(Cell::id)
        .containsExactly("a/pp512", "b/pp512", "a/start", "b/start");
  }

  @Test
  void whatIsLeftOutIsNoCell() {
    Study study =
        TestData.study(List.of("prefill", "load"), "a", "b").toBuilder()
            .leftOut(Map.of("b/pp512", "b has no memory for it"))
            .build();

    assertThat(study.cells()).extracting(Cell::id).containsExactly("a/pp512", "a/start", "b/start");
    assertThat(Json.read(Json.pretty(study), Study.class)).isEqualTo(study);
  }

  @Test
  void aPlanThatLeavesNothingOutIsAsEarlierVersionsWroteIt() {
    Study study = TestData.study(List.of("prefill"), "a");

    assertThat(Json.pretty(study)).doesNotContain("left_out");
    assertThat(Json.read(Json.pretty(study), Study.class)).isEqualTo(study);
  }

  @Test
  void anUnknownMetricIsNamed() {
    Study study = TestData.study(List.of("speed"), "a");

    assertThatIllegalArgumentException()
        .isThrownBy(study::workloads)
        .withMessage("unknown metric speed");
  }

  @Test
  void aPlanComesBackFromJsonAsItWas() {
    Study study =
        TestData.with(
                TestData.study(List.of("prefill"), "z", "a", "m"),
                Map.of("a", Map.of("threads", "2", "flash", "off")))
            .toBuilder()
            .allowed(List.of("context"))
            .build();

    Study read = Json.read(Json.pretty(study), Study.class);

    assertThat(read).isEqualTo(study);
    assertThat(read.engines().keySet()).as("in the order given").containsExactly("z", "a", "m");
  }

  @ParameterizedTest
  @CsvSource({
    "PREFILL, 512, 0, 0, 1, pp512, 512, 512",
    "PREFILL, 512, 0, 4096, 1, pp512@d4096, 512, 4608",
    "DECODE, 0, 64, 0, 1, tg64, 64, 80",
    "DECODE, 0, 64, 16, 1, tg64@d16, 64, 80",
    "DECODE, 0, 64, 4096, 1, tg64@d4096, 64, 4160",
    "FORWARD, 128, 0, 0, 4, fw4x128, 512, 128",
    "START, 512, 64, 0, 1, start, 32, 512",
    "START, 512, 64, 4096, 1, start, 32, 4608",
    "START, 8, 4, 0, 1, start, 32, 32",
    "START, 8, 64, 0, 1, start, 32, 80",
  })
  void aWorkloadsNameTokensAndContext(
      Workload.Kind kind,
      int prompt,
      int generate,
      int depth,
      int batch,
      String name,
      long tokens,
      int context) {
    Workload workload = new Workload(kind, prompt, generate, depth, batch);

    assertThat(workload.name()).isEqualTo(name);
    assertThat(workload.tokens()).isEqualTo(tokens);
    assertThat(workload.context()).isEqualTo(context);
  }
}
