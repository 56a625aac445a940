package io.steelyard.app;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** How amounts of memory and speeds of networks are written. */
final class Sizes {
  private static final String UNITS = "KMGTP";
  private static final Pattern BYTES =
      Pattern.compile("([0-9]{1,18}(?:\\.[0-9]{1,9})?)([KMGTP]?)(I?)B?");
  private static final Pattern BITS =
      Pattern.compile("([0-9]{1,18}(?:\\.[0-9]{1,9})?)([KMGTP]?)BIT(?:/S)?");

  private Sizes() {}

  private static BigDecimal amount(Matcher matcher, long kilo) {
    BigDecimal amount = new BigDecimal(matcher.group(1));
    int power = matcher.group(2).isEmpty() ? 0 : UNITS.indexOf(matcher.group(2)) + 1;
    return amount.multiply(BigDecimal.valueOf(kilo).pow(power));
  }

  private static boolean counts(BigDecimal amount) {
    return amount.compareTo(BigDecimal.ONE) >= 0
        && amount.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) <= 0;
  }

  /** Bytes: {@code 500M}, {@code 4G} (4 · 10⁹), {@code 4Gi} (4 · 2³⁰). */
  static final class Bytes implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      Matcher matcher = BYTES.matcher(text.toUpperCase(Locale.ROOT));
      if (matcher.matches() && (matcher.group(3).isEmpty() || !matcher.group(2).isEmpty())) {
        BigDecimal bytes = amount(matcher, matcher.group(3).isEmpty() ? 1000 : 1024);
        if (counts(bytes)) {
          return bytes.longValue();
        }
      }
      throw new TypeConversionException(
          "'" + text + "' is no amount of memory such as 500M, 4G or 4Gi");
    }
  }

  /** Bytes a second of a network whose speed is told in bits: {@code 100Gbit}. */
  static final class BytesPerSecond implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      Matcher matcher = BITS.matcher(text.toUpperCase(Locale.ROOT));
      if (matcher.matches()) {
        BigDecimal bytes = amount(matcher, 1000).divide(BigDecimal.valueOf(Byte.SIZE));
        if (counts(bytes)) {
          return bytes.longValue();
        }
      }
      throw new TypeConversionException(
          "'" + text + "' is no speed of a network such as 10Gbit or 400Gbit");
    }
  }
}
