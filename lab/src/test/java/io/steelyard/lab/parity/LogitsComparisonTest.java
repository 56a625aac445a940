package io.steelyard.lab.parity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.Perplexity;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogitsComparisonTest {
  private static final ValueLayout.OfFloat LITTLE =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Logits are float32 logarithms here: relative rounding of 2⁻²⁴ in each of a few terms. */
  private static final double ROUNDING = 1e-6;

  private static MemorySegment logits(double... values) {
    MemorySegment segment = MemorySegment.ofArray(new byte[4 * values.length]);
    for (int i = 0; i < values.length; i++) {
      segment.setAtIndex(LITTLE, i, (float) values[i]);
    }
    return segment;
  }

  /** Logits of a distribution: its logarithms. */
  private static MemorySegment of(double... probabilities) {
    double[] logits = new double[probabilities.length];
    for (int i = 0; i < logits.length; i++) {
      logits[i] = Math.log(probabilities[i]);
    }
    return logits(logits);
  }

  private static LogitsComparison compare(
      int vocabulary, MemorySegment oracle, MemorySegment engine) {
    return LogitsComparison.over(vocabulary).add(oracle, engine).comparison();
  }

  @Test
  void identicalLogitsDifferInNothing() {
    double[] values = new Random(7).doubles(3 * 5, -20, 20).toArray();

    assertThat(compare(5, logits(values), logits(values)))
        .isEqualTo(new LogitsComparison(3, 0, 0, 1, 0, 0, List.of()));
  }

  @Test
  void theDivergenceOfASmallDistributionIsTheOneByHand() {
    // KL = ½ ln(½ ÷ ¼) + ¼ ln(¼ ÷ ¼) + ¼ ln(¼ ÷ ½) = ¼ ln 2; P(top) falls from ½ to ¼.
    LogitsComparison comparison = compare(3, of(0.5, 0.25, 0.25), of(0.25, 0.25, 0.5));

    assertThat(comparison.positions()).isEqualTo(1);
    assertThat(comparison.kldMean()).isCloseTo(Math.log(2) / 4, within(ROUNDING));
    assertThat(comparison.kldP99()).isEqualTo(comparison.kldMean());
    assertThat(comparison.top1()).isZero();
    assertThat(comparison.rmsDeltaP()).isCloseTo(0.25, within(ROUNDING));
    assertThat(comparison.maxAbs()).isCloseTo(Math.log(2), within(ROUNDING));
  }

  @Test
  void theDivergenceIsOfTheOracleFromTheEngine() {
    // KL(p‖q) = ¾ ln(¾ ÷ ½) + ¼ ln(¼ ÷ ½) and KL(q‖p) = ½ ln(½ ÷ ¾) + ½ ln(½ ÷ ¼) are not equal.
    double expected = 0.75 * Math.log(1.5) + 0.25 * Math.log(0.5);

    assertThat(compare(2, of(0.75, 0.25), of(0.5, 0.5)).kldMean())
        .isCloseTo(expected, within(ROUNDING));
    assertThat(compare(2, of(0.5, 0.5), of(0.75, 0.25)).kldMean())
        .isCloseTo(0.5 * Math.log(4.0 / 3), within(ROUNDING));
  }

  @Test
  void addingAConstantToAllLogitsOfARowChangesTheLargestDifferenceAlone() {
    LogitsComparison plain = compare(4, logits(1, 2, 3, 4), logits(1, 2, 3.5, 4));
    LogitsComparison shifted = compare(4, logits(1, 2, 3, 4), logits(101, 102, 103.5, 104));

    assertThat(shifted.kldMean()).isCloseTo(plain.kldMean(), within(1e-12));
    assertThat(shifted.rmsDeltaP()).isCloseTo(plain.rmsDeltaP(), within(1e-12));
    assertThat(shifted.top1()).isEqualTo(plain.top1()).isEqualTo(1);
    assertThat(plain.maxAbs()).isEqualTo(0.5);
    assertThat(shifted.maxAbs()).isEqualTo(100.5);
  }

  @Test
  void largeLogitsDontOverflow() {
    LogitsComparison comparison = compare(2, logits(3e38, -3e38), logits(3e38, -3e38));

    assertThat(comparison.kldMean()).isZero();
    assertThat(compare(2, logits(1_000, 0), logits(0, 1_000)).kldMean()).isEqualTo(1_000);
  }

  @Test
  void tiesGoToTheLowestId() {
    assertThat(compare(3, logits(2, 2, 1), logits(2, 1.9, 1)).top1()).isEqualTo(1);
    assertThat(compare(3, logits(2, 2, 1), logits(1.9, 2, 1)).top1()).isZero();
    assertThat(compare(3, logits(1, 2, 2), logits(1, 2, 2.1)).top1()).isZero();
  }

  @Test
  void agreementAndMeansAreOverPositions() {
    // Two positions: one identical, one as by hand above.
    LogitsComparison comparison =
        compare(2, of(0.75, 0.25, 0.75, 0.25), of(0.75, 0.25, 0.25, 0.75));

    assertThat(comparison.positions()).isEqualTo(2);
    assertThat(comparison.top1()).isEqualTo(0.5);
    assertThat(comparison.kldMean()).isCloseTo(Math.log(3) / 4, within(ROUNDING));
    assertThat(comparison.rmsDeltaP()).isCloseTo(Math.sqrt(0.5 * 0.5 / 2), within(ROUNDING));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 99, 100, 101, 200, 1_000})
  void thePercentileIsTheNearestRank(int positions) {
    // Position k diverges by about k; the 99th percentile is that of rank ⌈0.99 n⌉.
    double[] oracle = new double[2 * positions];
    double[] engine = new double[2 * positions];
    for (int k = 1; k <= positions; k++) {
      oracle[2 * (k - 1)] = 10_000;
      engine[2 * (k - 1) + 1] = k;
    }
    int rank = (99 * positions + 99) / 100;
    double expected = rank + Math.log1p(Math.exp(-rank));

    assertThat(compare(2, logits(oracle), logits(engine)).kldP99())
        .isCloseTo(expected, within(1e-9));
  }

  @Test
  void textsAddUp() {
    LogitsComparison apart =
        LogitsComparison.over(2)
            .add(of(0.75, 0.25), of(0.75, 0.25))
            .add(of(0.75, 0.25), of(0.25, 0.75))
            .comparison();

    assertThat(apart).isEqualTo(compare(2, of(0.75, 0.25, 0.75, 0.25), of(0.75, 0.25, 0.25, 0.75)));
  }

  @Test
  void perplexityIsThatOfTheTokensThatFollow() {
    int[] text = {0, 1, 0};

    LogitsComparison comparison =
        LogitsComparison.over(2)
            .add(of(0.5, 0.5, 0.8, 0.2, 0.9, 0.1), of(0.75, 0.25, 0.5, 0.5, 0.9, 0.1), text)
            .comparison();

    // The engine gives 1/4 to token 1 and 1/2 to token 0; the oracle 1/2 and 4/5.
    double own = Math.sqrt(1 / (0.25 * 0.5));
    double oracle = Math.sqrt(1 / (0.5 * 0.8));
    Perplexity perplexity = comparison.perplexity().orElseThrow();
    assertThat(perplexity.value()).isCloseTo(own, within(1e-6));
    assertThat(perplexity.ratio()).isCloseTo(own / oracle, within(1e-6));
    // Of two differences, half of what lies between them.
    double error = (Math.log(2) - Math.log(1.6)) / 2 * own / oracle;
    assertThat(perplexity.error()).isCloseTo(error, within(1e-6));
  }

  @Test
  void withoutTheTextThereIsNoPerplexity() {
    assertThat(compare(2, of(0.75, 0.25), of(0.75, 0.25)).perplexity()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY})
  void aLogitThatIsNotFiniteAgreesInNothing(double broken) {
    LogitsComparison comparison =
        compare(2, logits(2, 1, 2, 1, 2, 1, 2, 1), logits(2, 1, 2, 1, 2, 1, 2, broken));

    assertThat(comparison.positions()).isEqualTo(4);
    assertThat(comparison.kldMean()).isInfinite();
    assertThat(comparison.kldP99()).isInfinite();
    assertThat(comparison.maxAbs()).isInfinite();
    assertThat(comparison.top1()).isEqualTo(0.75);
    assertThat(comparison.rmsDeltaP()).isEqualTo(0.5);
  }

  @Test
  void anInfiniteComparisonCanBeKeptAndReadBack() {
    LogitsComparison comparison = compare(2, logits(2, 1), logits(2, Double.NaN));

    assertThat(Json.read(Json.line(comparison), LogitsComparison.class)).isEqualTo(comparison);
  }

  @Test
  void sizesThatDisagreeAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> compare(2, logits(1, 2, 3, 4), logits(1, 2)))
        .withMessage("logits of 8 bytes against 16 bytes of the oracle's, with rows of 8");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> compare(2, logits(1, 2, 3), logits(1, 2, 3)));
  }
}
