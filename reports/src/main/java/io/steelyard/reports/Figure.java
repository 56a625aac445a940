package io.steelyard.reports;

import io.steelyard.reports.terminal.Format;
import java.util.List;

/**
 * An estimate as text, rounded to what its interval says is known.
 *
 * @param number the estimate: {@code 1,014}
 * @param spread its interval, {@code ± 12} or {@code [0.338, 0.352]}; empty where there is none
 */
record Figure(String number, String spread) {

  /** Nothing was measured. */
  static final Figure NONE = new Figure("–", "");

  private static final int MOST_DECIMALS = 9;
  private static final int MOST_DIGITS = 7;

  /** The interval as ± where it is symmetric to the eye, in brackets otherwise. */
  static Figure plusMinus(Double estimate, Double low, Double high) {
    if (estimate == null) {
      return NONE;
    }
    if (low == null || high == null) {
      return new Figure(withoutInterval(estimate), "");
    }
    double half = (high - low) / 2;
    boolean symmetric = Math.abs((high + low) / 2 - estimate) <= 0.1 * half;
    if (!symmetric) {
      return brackets(estimate, low, high);
    }
    int decimals = decimals(estimate, half);
    String spread = Format.decimals(half, decimals);
    double unit = Math.pow(10, -decimals);
    if (half < unit / 2) {
      spread = half == 0 ? "0" : "<" + Format.decimals(unit, decimals);
    }
    return new Figure(Format.decimals(estimate, decimals), "± " + spread);
  }

  /** The interval by its bounds, as a ratio's is, which is not symmetric. */
  static Figure brackets(Double estimate, Double low, Double high) {
    if (estimate == null) {
      return NONE;
    }
    if (low == null || high == null) {
      return new Figure(withoutInterval(estimate), "");
    }
    if (low > 0 && high > 10 * low) {
      // No number of decimals suits both bounds.
      return new Figure(
          Format.significant(estimate, 2),
          "[" + Format.significant(low, 2) + ", " + Format.significant(high, 2) + "]");
    }
    int decimals = decimals(estimate, (high - low) / 2);
    if (low > 0) {
      // A bound far below the estimate must not be rounded to zero.
      decimals = Math.max(decimals, Math.min(1 - Format.magnitude(low), MOST_DECIMALS));
    }
    return new Figure(
        Format.decimals(estimate, decimals),
        "[" + Format.decimals(low, decimals) + ", " + Format.decimals(high, decimals) + "]");
  }

  boolean isMeasured() {
    return !equals(NONE);
  }

  /** Number and interval in one: {@code 0.345× [0.338, 0.352]}. */
  String text(String behindNumber) {
    return spread.isEmpty() ? number + behindNumber : number + behindNumber + " " + spread;
  }

  /**
   * Decimals by the rule of the Particle Data Group (Review of Particle Physics, section
   * "Rounding"): two digits of an uncertainty whose leading digits are 100 to 354, one digit of
   * others.
   */
  private static int decimals(double estimate, double half) {
    int known = MOST_DIGITS - 1 - (estimate == 0 ? 0 : Format.magnitude(estimate));
    if (!(half > 0) || !Double.isFinite(half)) {
      return Math.clamp(Math.min(known, 4 - 1 - magnitudeOrZero(estimate)), 0, MOST_DECIMALS);
    }
    int exponent = Format.magnitude(half);
    int decimals = half / Math.pow(10, exponent) < 3.55 ? 1 - exponent : -exponent;
    return Math.clamp(Math.min(known, decimals), 0, MOST_DECIMALS);
  }

  private static int magnitudeOrZero(double value) {
    return value == 0 ? 0 : Format.magnitude(value);
  }

  private static String withoutInterval(double estimate) {
    return Format.significant(estimate, Math.abs(estimate) >= 1000 ? 4 : 3);
  }

  /** A unit that keeps figures readable, and the factor that leads to it. */
  record Scale(String unit, double factor) {

    private static final List<List<String>> LADDERS =
        List.of(List.of("ns", "µs", "ms", "s"), List.of("B", "kB", "MB", "GB", "TB"));

    /**
     * The unit of a group of figures that are to be compared.
     *
     * @param unit what they are recorded in; other units than times and bytes stay
     * @param smallest the smallest of them, which is to be at least 1 and below 1,000
     * @param largest the largest of them, which is to stay below a million even so
     */
    static Scale of(String unit, double smallest, double largest) {
      String known = unit.equals("us") ? "µs" : unit;
      for (List<String> ladder : LADDERS) {
        int step = ladder.indexOf(known);
        if (step >= 0 && smallest > 0) {
          double factor = 1;
          // 999.95 would be shown as 1,000.
          for (; smallest * factor >= 999.95 && step < ladder.size() - 1; step++) {
            factor /= 1000;
          }
          for (; smallest * factor < 1 && largest * factor < 1000 && step > 0; step--) {
            factor *= 1000;
          }
          return new Scale(ladder.get(step), factor);
        }
      }
      return new Scale(unit, 1);
    }

    static boolean isBytes(String unit) {
      return LADDERS.get(1).contains(unit);
    }

    Double apply(Double value) {
      return value == null ? null : Double.valueOf(value * factor);
    }
  }
}
