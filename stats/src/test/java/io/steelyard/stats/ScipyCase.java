package io.steelyard.stats;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * One line of a file written by {@code src/test/resources/scipy/make.py}: inputs, and what SciPy
 * returned for them.
 *
 * @param call the SciPy call, with its inputs named a and b
 * @param a first input
 * @param b second input
 * @param expected SciPy's answer
 */
record ScipyCase(String call, double[] a, double[] b, double[] expected) {

  /** Agreement asked for: both sides compute in double, with different rounding on the way. */
  static final double RELATIVE = 1e-9;

  static List<ScipyCase> read(String name) {
    try (InputStream file = ScipyCase.class.getResourceAsStream("/scipy/" + name)) {
      String text =
          new String(Objects.requireNonNull(file, name).readAllBytes(), StandardCharsets.UTF_8);
      return text.lines().filter(line -> !line.startsWith("#")).map(ScipyCase::parse).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ScipyCase parse(String line) {
    List<String> columns = List.of(line.split(";"));
    return new ScipyCase(
        columns.get(0), numbers(columns.get(1)), numbers(columns.get(2)), numbers(columns.get(3)));
  }

  private static double[] numbers(String column) {
    return Arrays.stream(column.split(" ")).mapToDouble(Double::parseDouble).toArray();
  }

  @Override
  public String toString() {
    return "%s with a = %s, b = %s".formatted(call, Arrays.toString(a), Arrays.toString(b));
  }
}
