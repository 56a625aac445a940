package io.steelyard.app;

import io.steelyard.app.AttentionCurves.Curve;
import io.steelyard.stats.Interval;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.PowerLaw;
import io.steelyard.stats.Sample;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/**
 * How the time of variants grows with the length, and where one overtakes another: by a law for
 * each block, so that the blocks' scatter gives the intervals.
 */
final class AttentionGrowth {
  /** Fewer lengths fit any line. */
  static final int LEAST_LENGTHS = 3;

  private final long seed;
  private final Map<String, Law> laws = new LinkedHashMap<>();

  /**
   * Laws of a variant.
   *
   * @param lengths that each goes through
   * @param blocks one for each block that has all of them
   */
  private record Law(int lengths, NavigableMap<Integer, PowerLaw> blocks) {}

  /**
   * A value with its 95 % interval over blocks.
   *
   * @param low lower bound; null where there is none
   * @param high upper bound; null likewise
   */
  record Estimate(double value, Double low, Double high) {}

  AttentionGrowth(AttentionCurves curves) {
    seed = curves.seed();
    for (Curve curve : curves.curves()) {
      Law law = law(curve);
      if (!law.blocks().isEmpty()) {
        laws.put(curve.variant(), law);
      }
    }
  }

  /** Of the lengths that most blocks have all of, for each of these blocks. */
  private static Law law(Curve curve) {
    NavigableMap<Integer, Map<Integer, Double>> byBlock = new TreeMap<>();
    curve
        .nanos()
        .forEach(
            (length, blocks) ->
                blocks.forEach(
                    (block, nanos) ->
                        byBlock.computeIfAbsent(block, _ -> new TreeMap<>()).put(length, nanos)));
    Map<Integer, Double> fullest = Map.of();
    for (Map<Integer, Double> points : byBlock.values()) {
      fullest = points.size() > fullest.size() ? points : fullest;
    }
    NavigableMap<Integer, PowerLaw> laws = new TreeMap<>();
    if (fullest.size() >= LEAST_LENGTHS) {
      for (Map.Entry<Integer, Map<Integer, Double>> block : byBlock.entrySet()) {
        Map<Integer, Double> points = block.getValue();
        if (points.keySet().equals(fullest.keySet())) {
          laws.put(
              block.getKey(),
              PowerLaw.through(
                  points.keySet().stream().mapToDouble(Integer::doubleValue).toArray(),
                  points.values().stream().mapToDouble(Double::doubleValue).toArray()));
        }
      }
    }
    return new Law(fullest.size(), laws);
  }

  /** The variants that were measured at enough lengths. */
  List<String> variants() {
    return List.copyOf(laws.keySet());
  }

  /** Lengths that a variant's laws go through. */
  int lengths(String variant) {
    return laws.get(variant).lengths();
  }

  /** The exponent of the length in a variant's time. */
  Estimate exponent(String variant) {
    return estimate(laws.get(variant).blocks().values(), PowerLaw::exponent);
  }

  /**
   * The length from which on a variant is faster than another; empty where its law doesn't fall
   * below the other's in every block.
   */
  Optional<Estimate> crossover(String variant, String other) {
    if (!laws.containsKey(variant) || !laws.containsKey(other) || variant.equals(other)) {
      return Optional.empty();
    }
    NavigableMap<Integer, PowerLaw> own = new TreeMap<>(laws.get(variant).blocks());
    NavigableMap<Integer, PowerLaw> theirs = laws.get(other).blocks();
    own.keySet().retainAll(theirs.keySet());
    List<Double> logs = new ArrayList<>();
    own.forEach(
        (block, law) -> law.fallsBelow(theirs.get(block)).ifPresent(at -> logs.add(Math.log(at))));
    if (logs.isEmpty() || logs.size() < own.size()) {
      return Optional.empty();
    }
    Estimate log = estimate(logs, Double::doubleValue);
    return Optional.of(
        new Estimate(
            Math.exp(log.value()),
            log.low() == null ? null : Double.valueOf(Math.exp(log.low())),
            log.high() == null ? null : Double.valueOf(Math.exp(log.high()))));
  }

  private <T> Estimate estimate(Collection<T> of, ToDoubleFunction<T> value) {
    double[] values = of.stream().mapToDouble(value).toArray();
    Optional<Interval> interval = Intervals.mean(Sample.ofForks(values), seed);
    return new Estimate(
        Sample.ofForks(values).mean(),
        interval.map(Interval::low).orElse(null),
        interval.map(Interval::high).orElse(null));
  }
}
