package io.steelyard.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.history.TrendChanges.Change;
import io.steelyard.stats.SeriesChanges;
import io.steelyard.stats.SeriesChanges.Direction;
import io.steelyard.stats.SeriesChanges.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TrendChangesTest {
  private static final Double NONE = null;

  private static Trend trend(String better, List<Trend.Point> points) {
    return new Trend(
        new Trend.Series(
            "tg64",
            "tok/s",
            better,
            "steelyard",
            "steelyard",
            "model",
            "abc",
            "Q8_0",
            "threads=2",
            "fingerprint",
            "Example CPU"),
        points,
        0);
  }

  private static Trend.Point point(int i, double mean, Double low, Double high, int forks) {
    return new Trend.Point(
        i + 1,
        "run" + i,
        SampleRuns.NOON.plus(Duration.ofDays(i)),
        new RunRecord.Commit("commit" + i, Optional.of(false)),
        mean,
        low,
        high,
        forks,
        3 * forks,
        "steady");
  }

  /** With noise of 1 %, and intervals of as much. */
  private static List<Trend.Point> points(int runs, IntToDoubleFunction level) {
    Random random = new Random(3);
    return IntStream.range(0, runs)
        .mapToObj(
            i -> {
              double mean = level.applyAsDouble(i) * Math.exp(0.01 * random.nextGaussian());
              return point(i, mean, 0.99 * mean, 1.01 * mean, 5);
            })
        .toList();
  }

  private static Change only(Trend trend) {
    TrendChanges changes = TrendChanges.of(trend);
    assertThat(changes.obstacle()).isEmpty();
    assertThat(changes.changes()).hasSize(1);
    return changes.changes().getFirst();
  }

  @Test
  void aStepLiesBetweenTwoRunsAndHasARatioThatIsAboveOneWhereItIsBetter() {
    List<Trend.Point> points = points(40, i -> i < 25 ? 100 : 80);

    Change slower = only(trend("higher", points));
    Change shorter = only(trend("lower", points));

    assertThat(slower.kind()).isEqualTo(Kind.STEP);
    assertThat(slower.before()).isEqualTo(24);
    assertThat(slower.after()).isEqualTo(25);
    // Four standard errors of a mean of 15 values with 1 %.
    assertThat(slower.from()).isCloseTo(100, within(1.0));
    assertThat(slower.to()).isCloseTo(80, within(0.9));
    assertThat(slower.direction()).contains(Direction.WORSE);
    assertThat(slower.ratio().estimate()).isCloseTo(0.8, within(0.012));
    assertThat(slower.ratio().low()).isLessThan(0.8);
    assertThat(slower.ratio().high()).isGreaterThan(0.8);
    assertThat(slower.exceeds(0.02)).isTrue();
    assertThat(slower.exceeds(0.5)).isFalse();
    assertThat(shorter.direction()).contains(Direction.BETTER);
    assertThat(shorter.ratio().estimate()).isCloseTo(1 / slower.ratio().estimate(), within(1e-12));
    assertThat(shorter.ratio().low()).isLessThan(shorter.ratio().estimate());
  }

  @Test
  void whereTheDirectionIsUnknownNothingIsBetter() {
    Change change = only(trend("unknown", points(40, i -> i < 25 ? 100 : 80)));

    assertThat(change.direction()).isEmpty();
    assertThat(change.ratio().estimate()).isCloseTo(0.8, within(0.012));
  }

  @Test
  void aDriftGoesFromItsFirstRunToItsLast() {
    Change change = only(trend("higher", points(60, i -> 100 * Math.exp(-0.003 * i))));

    assertThat(change.kind()).isEqualTo(Kind.DRIFT);
    assertThat(change.before()).isZero();
    assertThat(change.after()).isEqualTo(59);
    assertThat(change.direction()).contains(Direction.WORSE);
  }

  @Test
  void aShortTrendSaysHowManyRunsItTakes() {
    TrendChanges changes = TrendChanges.of(trend("higher", points(7, i -> i < 3 ? 100 : 50)));

    assertThat(changes.changes()).isEmpty();
    assertThat(changes.obstacle().orElseThrow())
        .contains("no fewer than " + SeriesChanges.FEWEST_RUNS)
        .contains("there are 7");
  }

  @Test
  void valuesThatAreNotAboveZeroAreNamed() {
    TrendChanges changes = TrendChanges.of(trend("higher", points(40, i -> i == 8 ? 0 : 100)));

    assertThat(changes.changes()).isEmpty();
    assertThat(changes.obstacle().orElseThrow()).contains("run 9 has 0.0");
  }

  @Test
  void aChangeIsNotSurerThanItsRuns() {
    List<Trend.Point> unsure =
        points(40, i -> i < 30 ? 100 : 103).stream()
            .map(
                p ->
                    p.run() <= 30
                        ? p
                        : point((int) p.run() - 1, p.mean(), 0.5 * p.mean(), 1.5 * p.mean(), 5))
            .toList();

    assertThat(TrendChanges.of(trend("higher", points(40, i -> i < 30 ? 100 : 103))).changes())
        .hasSize(1);
    assertThat(TrendChanges.of(trend("higher", unsure)).changes()).isEmpty();
  }

  @Test
  void runsWithoutAnIntervalCountLikeTheOthers() {
    List<Trend.Point> some =
        points(40, i -> i < 25 ? 100 : 80).stream()
            .map(p -> p.run() % 3 == 0 ? point((int) p.run() - 1, p.mean(), NONE, NONE, 1) : p)
            .toList();

    assertThat(only(trend("higher", some)).after()).isEqualTo(25);
  }
}
