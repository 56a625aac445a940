package io.steelyard.kernels.attention;

import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Foresees the share of attention that a block of queries gives to a block of keys: the exponential
 * of a weighted sum of {@link BlockFeatures}. {@link ScorerTraining} finds the weights.
 */
public final class BlockScorer {
  private static final String SHIPPED = "block-scorer.properties";

  /** A file of weights is a few lines. */
  private static final int MOST_BYTES = 1 << 16;

  private static final BlockScorer OWN = readShipped();

  private final String source;
  private final double[] weights;

  BlockScorer(String source, double[] weights) {
    this.source = source;
    this.weights = weights.clone();
  }

  /** The scorer that ships with Steelyard. */
  static BlockScorer shipped() {
    return OWN;
  }

  /** The one that a parameter names; without it the shipped one. */
  static BlockScorer of(Parameters parameters) {
    String file = parameters.text("scorer", "");
    return file.isEmpty() ? OWN : read(file);
  }

  private static BlockScorer readShipped() {
    try (InputStream in = BlockScorer.class.getResourceAsStream(SHIPPED)) {
      return parse("shipped", new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static BlockScorer read(String file) {
    try {
      Path path = Path.of(file);
      if (!Files.isRegularFile(path) || Files.size(path) > MOST_BYTES) {
        throw new IllegalArgumentException(
            "scorer=%s: there is no file of weights there; 'attention train' writes one"
                .formatted(file));
      }
      return parse(file, Files.readString(path));
    } catch (InvalidPathException | IOException e) {
      throw new IllegalArgumentException(
          "scorer=%s can't be read as a file of weights: %s".formatted(file, e.getMessage()), e);
    }
  }

  /** Reads what {@link #text} gives; each weight must be there, and no other line. */
  static BlockScorer parse(String source, String text) {
    Properties lines = new Properties();
    try (Reader reader = new StringReader(text)) {
      lines.load(reader);
    } catch (IOException | IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "scorer=%s is no file of weights: %s".formatted(source, e.getMessage()), e);
    }
    if (!lines.stringPropertyNames().equals(Set.copyOf(BlockFeatures.NAMES))) {
      throw new IllegalArgumentException(
          "scorer=%s must have a weight for each of %s, and nothing else"
              .formatted(source, String.join(", ", BlockFeatures.NAMES)));
    }
    return new BlockScorer(
        source,
        BlockFeatures.NAMES.stream()
            .mapToDouble(name -> weight(source, name, lines.getProperty(name)))
            .toArray());
  }

  private static double weight(String source, String name, String value) {
    try {
      double weight = Double.parseDouble(value);
      if (Math.abs(weight) <= 1000) {
        return weight;
      }
    } catch (NumberFormatException e) {
      // Refused as one that is too large.
    }
    throw new IllegalArgumentException(
        "scorer=%s: %s=%s is no weight from -1000 to 1000".formatted(source, name, value));
  }

  /** The weights as a file of properties. */
  public String text() {
    return IntStream.range(0, weights.length)
        .mapToObj(i -> BlockFeatures.NAMES.get(i) + "=" + weights[i] + "\n")
        .collect(Collectors.joining());
  }

  /** The logarithm of the share that is foreseen for a block whose features begin at an index. */
  double logShare(float[] features, int at) {
    double sum = 0;
    for (int i = 0; i < weights.length; i++) {
      sum += weights[i] * features[at + i];
    }
    return sum;
  }

  @Override
  public String toString() {
    return source;
  }
}
