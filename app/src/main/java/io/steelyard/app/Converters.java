package io.steelyard.app;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** How options are written: {@code 3m}, {@code 2%}. */
final class Converters {
  private Converters() {}

  /** A duration in seconds: {@code 90}, {@code 90s}, {@code 3m}, {@code 1h}, {@code 1m30s}. */
  static final class Seconds implements ITypeConverter<Double> {
    private static final Pattern PART = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)(h|m|s|)");

    @Override
    public Double convert(String text) {
      Matcher matcher = PART.matcher(text.toLowerCase(Locale.ROOT));
      double seconds = 0;
      int end = 0;
      while (matcher.find() && matcher.start() == end) {
        double unit =
            switch (matcher.group(2)) {
              case "h" -> 3600;
              case "m" -> 60;
              default -> 1;
            };
        seconds += Double.parseDouble(matcher.group(1)) * unit;
        end = matcher.end();
      }
      if (end != text.length() || !(seconds > 0)) {
        throw new TypeConversionException("'" + text + "' is no duration such as 90s, 3m or 1h");
      }
      return seconds;
    }
  }

  /** A share: {@code 2%} or {@code 0.02}. */
  static final class Share implements ITypeConverter<Double> {
    @Override
    public Double convert(String text) {
      try {
        double share =
            text.endsWith("%")
                ? Double.parseDouble(text.substring(0, text.length() - 1)) / 100
                : Double.parseDouble(text);
        if (share > 0 && share < 1) {
          return share;
        }
      } catch (NumberFormatException e) {
        // Falls through to the one message for both.
      }
      throw new TypeConversionException("'" + text + "' is no share such as 2% or 0.02");
    }
  }
}
