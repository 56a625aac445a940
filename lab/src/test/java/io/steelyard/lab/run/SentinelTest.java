package io.steelyard.lab.run;

import static io.steelyard.lab.TestData.blockStart;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.record.Entry;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SentinelTest {
  private static String judge(long compute, long bandwidth, double stolen, int steady) {
    List<Entry.BlockStart> all = new ArrayList<>();
    for (int block = 1; block <= steady; block++) {
      all.add(blockStart(block, 1, 1_000, 2_000));
    }
    Entry.BlockStart judged = blockStart(steady + 1, 1, compute, bandwidth);
    all.add(judged);
    return Sentinel.judge(judged, all, stolen);
  }

  @Test
  void withinFivePercentOfTheMedianIsUndisturbed() {
    assertThat(judge(1_049, 2_000, 0, 4)).isEmpty();
    assertThat(judge(951, 2_098, 0, 4)).isEmpty();
    assertThat(judge(1_000, 1_902, 0.01, 4)).isEmpty();
  }

  @Test
  void slowerOrFasterThanThatIsDisturbed() {
    assertThat(judge(1_051, 2_000, 0, 4))
        .isEqualTo("the sentinel's compute kernel took 1.05 times its median");
    assertThat(judge(949, 2_000, 0, 4)).contains("compute kernel took 0.95");
    assertThat(judge(1_000, 2_200, 0, 4))
        .isEqualTo("the sentinel's bandwidth kernel took 1.10 times its median");
    assertThat(judge(1_000, 1_800, 0, 4)).contains("bandwidth kernel took 0.90");
  }

  @Test
  void stolenTimeIsDisturbedEvenWithoutAMedian() {
    assertThat(judge(1_000, 2_000, 0.011, 0))
        .isEqualTo("the hypervisor took 1.1 % of processor time");
  }

  @Test
  void twoReadingsHaveNoMedianToBeOffFrom() {
    assertThat(judge(5_000, 9_000, 0, 1)).isEmpty();
    assertThat(judge(5_000, 9_000, 0, 2)).isNotEmpty();
  }

  @Test
  void theMedianOfAnEvenNumberLiesBetweenTheMiddleTwo() {
    // 1000, 1000, 1100, 1100: the median is 1050, and 1100 is 4.8 % over it.
    Entry.BlockStart judged = blockStart(4, 1, 1_100, 2_000);

    assertThat(
            Sentinel.judge(
                judged,
                List.of(
                    blockStart(1, 1, 1_000, 2_000),
                    blockStart(2, 1, 1_000, 2_000),
                    blockStart(3, 1, 1_100, 2_000),
                    judged),
                0))
        .isEmpty();
  }
}
