package io.steelyard.lab.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.lab.TestData;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.study.Workload;
import io.steelyard.stats.Sample;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MetricTest {
  /** Divisions of exact decimals: a few units in the last place. */
  private static final double ROUNDING = 1e-12;

  @Test
  void throughputIsTotalTokensOverTotalTimeOfTheTrialsAlone() {
    // 512 tokens in 2 s, 1 s and 1 s: 1536 / 4 s, where the mean of the rates would be 426.7.
    List<ForkRecord> forks =
        List.of(
            TestData.fork(false, 512, 2_000_000_000, 1_000_000_000, 1_000_000_000),
            TestData.fork(true, 512, 4_000_000_000L, 4_000_000_000L, 4_000_000_000L));

    Sample sample = new PrefillThroughput(Workload.prefill(512, 0)).sample(forks);

    assertThat(sample.forkMeans()).containsExactly(new double[] {384, 128}, within(ROUNDING));
    assertThat(sample.mean()).isCloseTo(256, within(ROUNDING));
    assertThat(sample.forks()).isEqualTo(2);
    assertThat(sample.trials()).isEqualTo(6);
    assertThat(sample.min()).isEqualTo(128);
    assertThat(sample.max()).isEqualTo(512);
  }

  @Test
  void decodeAndForwardThroughputAreTokensASecond() {
    assertThat(
            new DecodeThroughput(Workload.decode(64, 0))
                .sample(List.of(TestData.fork(false, 64, 2_000_000_000)))
                .mean())
        .isEqualTo(32);
    assertThat(
            new ForwardThroughput(Workload.forward(4, 128))
                .sample(List.of(TestData.fork(false, 512, 500_000_000)))
                .mean())
        .isEqualTo(1_024);
  }

  @Test
  void coldStartIsTheSumOfItsParts() {
    // 100 ms until ready, 300 ms for the load and 51 ms for the first token, as seen from outside.
    Sample sample = new ColdStart(start()).sample(List.of(TestData.startFork(false, 50_000_000)));

    assertThat(sample.mean()).isCloseTo(451, within(ROUNDING * 451));
    assertThat(sample.trials()).isEqualTo(1);
  }

  @Test
  void coldStartOfAHostedEngineIsLoadAndFirstTokenByItsOwnClocks() {
    ForkRecord fork = TestData.startFork(true, 50_000_000);

    // 250 ms and 50 ms: neither the runtime nor the 50 ms and 1 ms seen around the calls.
    assertThat(new ColdStart(start()).sample(List.of(fork)).mean())
        .isCloseTo(300, within(ROUNDING * 300));
    assertThat(ColdStart.wholeNanos(fork)).isEqualTo(451e6);
  }

  @Test
  void thePartsOfAColdStartAddUpToTheWhole() {
    ForkRecord fork = TestData.startFork(true, 50_000_000);

    assertThat(ColdStart.parts(fork))
        .containsExactly(
            Map.entry("runtime", 100e6),
            Map.entry("load", 250e6),
            Map.entry("prefill", 50e6),
            Map.entry(ColdStart.AROUND, 51e6));
  }

  @Test
  void loadTimeIsTheEnginesOwn() {
    Sample sample =
        new LoadTime(start())
            .sample(List.of(TestData.startFork(false, 1), TestData.startFork(true, 1)));

    assertThat(sample.allTrials()).containsExactly(250, 250);
  }

  @Test
  void peakMemoryIsInMillionsOfBytes() {
    assertThat(new PeakMemory(start()).sample(List.of(TestData.startFork(false, 1))).allTrials())
        .containsExactly(240);
  }

  @Test
  void peakMemoryOfAHostedEngineLeavesItsRuntimeOut() {
    assertThat(new PeakMemory(start()).sample(List.of(TestData.startFork(true, 1))).allTrials())
        .containsExactly(200);
  }

  @Test
  void aStudysMetricsComeInItsOrderWithNamesUnitsAndDirections() {
    List<Metric> metrics =
        Metric.of(
            TestData.study(
                List.of("memory", "decode", "prefill", "forward", "load", "coldstart"), "a"));

    assertThat(metrics)
        .extracting(Metric::name)
        .containsExactly("memory", "tg64", "pp512", "fw4x512", "load", "coldstart");
    assertThat(metrics)
        .extracting(Metric::unit)
        .containsExactly("MB", "tok/s", "tok/s", "tok/s", "ms", "ms");
    assertThat(metrics)
        .extracting(Metric::higherIsBetter)
        .containsExactly(false, true, true, true, false, false);
    assertThat(metrics).extracting(Metric::formula).doesNotHaveDuplicates().doesNotContain("");
  }

  @Test
  void theWorkloadOfEveryMetricIsOneThatTheStudyMeasures() {
    var study =
        TestData.study(List.of("prefill", "decode", "coldstart", "load", "memory", "forward"), "a");

    assertThat(Metric.of(study)).extracting(Metric::workload).isSubsetOf(study.workloads());
  }

  @Test
  void anUnknownMetricIsNamed() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Metric.of(TestData.study(List.of("speed"), "a")))
        .withMessage("unknown metric speed");
  }

  private static Workload start() {
    return Workload.start(512, 64, 0);
  }
}
