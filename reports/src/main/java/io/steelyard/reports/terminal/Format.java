package io.steelyard.reports.terminal;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/** Figures for people to read. Always in {@link Locale#ROOT}: a comma groups, a point divides. */
public final class Format {

  private static final String[] BYTE_UNITS = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};

  private Format() {}

  /** A whole number in groups of three: {@code 1,014}. */
  public static String count(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  /** So many of something, whose plural ends in s: {@code 1 block}, {@code 1,014 blocks}. */
  public static String count(long value, String noun) {
    return count(value) + " " + noun + (value == 1 ? "" : "s");
  }

  /**
   * A number with so many decimals, in groups of three: {@code 1,014.20}. What isn't finite becomes
   * {@code –}; no zero has a sign.
   */
  public static String decimals(double value, int decimals) {
    if (!Double.isFinite(value)) {
      return "–";
    }
    BigDecimal rounded = BigDecimal.valueOf(value).setScale(decimals, RoundingMode.HALF_UP);
    return String.format(Locale.ROOT, "%,." + decimals + "f", rounded);
  }

  /** A number with so many significant digits, without exponent: {@code 0.0512}, {@code 1,010}. */
  public static String significant(double value, int digits) {
    if (!Double.isFinite(value)) {
      return "–";
    }
    if (value == 0) {
      return "0";
    }
    BigDecimal rounded = BigDecimal.valueOf(value).round(new MathContext(digits));
    int decimals = digits - 1 - magnitude(rounded.doubleValue());
    return String.format(Locale.ROOT, "%,." + Math.max(0, decimals) + "f", rounded);
  }

  /** A round number with as few digits as it has, four at most: {@code 0.95}, {@code 1.5}. */
  public static String compact(double value) {
    String text = significant(value, 4);
    return text.contains(".") ? text.replaceFirst("0+$", "").replaceFirst("\\.$", "") : text;
  }

  /** A number as mantissa and exponent, such as {@code 2.1e-3}; zero is {@code 0}. */
  public static String scientific(double value, int digits) {
    if (!Double.isFinite(value)) {
      return "–";
    }
    if (value == 0) {
      return "0";
    }
    BigDecimal rounded = BigDecimal.valueOf(value).round(new MathContext(digits));
    int exponent = rounded.precision() - rounded.scale() - 1;
    return rounded.movePointLeft(exponent).setScale(digits - 1, RoundingMode.UNNECESSARY)
        + "e"
        + exponent;
  }

  /** A share as percent with so many decimals: {@code 98.4 %}. */
  public static String percent(double share, int decimals) {
    return Double.isFinite(share) ? decimals(100 * share, decimals) + " %" : "–";
  }

  /** Bytes in decimal units with three digits: {@code 98.4 MB}. */
  public static String bytes(long bytes) {
    double value = bytes;
    int unit = 0;
    // 999.5 would be rounded up to four digits.
    while (Math.abs(value) >= 999.5 && unit < BYTE_UNITS.length - 1) {
      value /= 1000;
      unit++;
    }
    return (unit == 0 ? count(bytes) : significant(value, 3)) + " " + BYTE_UNITS[unit];
  }

  /**
   * A time span in the two units that matter: {@code 850 ms}, {@code 3.2 s}, {@code 1 min 32 s},
   * {@code 2 h 5 min}.
   *
   * @param nanoseconds its length
   */
  public static String duration(long nanoseconds) {
    if (nanoseconds < 0) {
      return "-" + duration(-Math.max(nanoseconds, -Long.MAX_VALUE));
    }
    if (nanoseconds < 999_500) {
      return nanoseconds < 1_000 ? nanoseconds + " ns" : significant(nanoseconds / 1e3, 2) + " µs";
    }
    if (nanoseconds < 999_500_000L) {
      return significant(nanoseconds / 1e6, nanoseconds < 99_500_000L ? 2 : 3) + " ms";
    }
    if (nanoseconds < 9_950_000_000L) {
      return decimals(nanoseconds / 1e9, 1) + " s";
    }
    long seconds = Math.round(nanoseconds / 1e9);
    if (seconds < 60) {
      return seconds + " s";
    }
    if (seconds < 3600) {
      return two(seconds / 60, "min", seconds % 60, "s");
    }
    long minutes = Math.round(nanoseconds / 60e9);
    return minutes < 24 * 60
        ? two(minutes / 60, "h", minutes % 60, "min")
        : two(minutes / (24 * 60), "d", minutes / 60 % 24, "h");
  }

  /** The exponent of the number's first digit: 2 for 100, −2 for 0.03. */
  public static int magnitude(double value) {
    return (int) Math.floor(Math.log10(Math.abs(value)) + 1e-12);
  }

  private static String two(long large, String largeUnit, long small, String smallUnit) {
    return large + " " + largeUnit + (small == 0 ? "" : " " + small + " " + smallUnit);
  }
}
