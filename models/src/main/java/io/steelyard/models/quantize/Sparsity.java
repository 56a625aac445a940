package io.steelyard.models.quantize;

import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.codec.TensorEncoder;
import io.steelyard.models.UnknownNameException;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Which weights of a matrix become zero.
 *
 * @param dropped share of the weights that become zero, between 0 and 1
 */
public record Sparsity(Pattern pattern, double dropped) {
  private static final int BLOCK = 4;

  /** The patterns. */
  public enum Pattern {
    /** Of each 4 values of a row the 2 of largest magnitude stay. */
    TWO_OF_FOUR("2:4"),
    /** The blocks of 4 × 4 of largest norm stay. */
    BLOCK("block"),
    /** The rows of largest norm stay: whole outputs. */
    CHANNEL("channel"),
    /** Which stay is drawn by lot, always the same ones. */
    RANDOM("random");

    private final String label;

    Pattern(String label) {
      this.label = label;
    }
  }

  /**
   * A pattern, and the share that it drops: {@code 2:4}, {@code block:0.5}, {@code channel:0.25},
   * {@code random:0.5}; a half where none is given.
   *
   * @throws UnknownNameException for anything else
   */
  public static Sparsity of(String text) {
    String plain = text.toLowerCase(Locale.ROOT);
    if (plain.equals(Pattern.TWO_OF_FOUR.label)) {
      return new Sparsity(Pattern.TWO_OF_FOUR, 0.5);
    }
    int colon = plain.indexOf(':');
    String label = colon < 0 ? plain : plain.substring(0, colon);
    Pattern pattern =
        Arrays.stream(Pattern.values())
            .filter(each -> each.label.equals(label))
            .findFirst()
            .orElseThrow(() -> unknown(text));
    double dropped = colon < 0 ? 0.5 : share(text, plain.substring(colon + 1));
    return new Sparsity(pattern, dropped);
  }

  private static double share(String text, String number) {
    try {
      double share = Double.parseDouble(number);
      if (share > 0 && share < 1) {
        return share;
      }
    } catch (NumberFormatException e) {
      // As any other text that is no share.
    }
    throw unknown(text);
  }

  private static UnknownNameException unknown(String text) {
    return new UnknownNameException(
        "there is no sparsity '%s'; give 2:4, or block, channel or random with the share that becomes zero, such as block:0.5"
            .formatted(text));
  }

  /** A tensor's rows with zeros. */
  TensorEncoder.Source applied(Tensor tensor, TensorEncoder.Source rows) {
    int columns = (int) tensor.columns();
    return switch (pattern) {
      case TWO_OF_FOUR ->
          (row, to) -> {
            rows.row(row, to);
            twoOfFour(to);
          };
      case BLOCK -> blocks(tensor, rows);
      case CHANNEL -> {
        double[] norms = new double[(int) tensor.rows()];
        float[] values = new float[columns];
        for (int row = 0; row < norms.length; row++) {
          rows.row(row, values);
          norms[row] = squares(values, 0, columns);
        }
        boolean[] kept = kept(norms);
        yield (row, to) -> {
          rows.row(row, to);
          if (!kept[(int) row]) {
            Arrays.fill(to, 0);
          }
        };
      }
      case RANDOM ->
          (row, to) -> {
            rows.row(row, to);
            SplittableRandom random = new SplittableRandom(tensor.name().hashCode() * 31L + row);
            for (int i = 0; i < to.length; i++) {
              to[i] = random.nextDouble() < dropped ? 0 : to[i];
            }
          };
    };
  }

  /** Of equal magnitudes the first stay. */
  private static void twoOfFour(float[] values) {
    for (int first = 0; first < values.length; first += BLOCK) {
      int end = Math.min(values.length, first + BLOCK);
      int dropped = 0;
      for (int i = first; i < end; i++) {
        int larger = 0;
        for (int j = first; j < end; j++) {
          float difference = Math.abs(values[j]) - Math.abs(values[i]);
          larger += difference > 0 || (difference == 0 && j < i) ? 1 : 0;
        }
        dropped |= larger >= 2 ? 1 << (i - first) : 0;
      }
      for (int i = first; i < end; i++) {
        values[i] = ((dropped >> (i - first)) & 1) != 0 ? 0 : values[i];
      }
    }
  }

  private TensorEncoder.Source blocks(Tensor tensor, TensorEncoder.Source rows) {
    int columns = (int) tensor.columns();
    int across = Math.ceilDiv(columns, BLOCK);
    int down = (int) Math.ceilDiv(tensor.rows(), (long) BLOCK);
    double[] norms = new double[Math.multiplyExact(across, down)];
    float[] values = new float[columns];
    for (int row = 0; row < tensor.rows(); row++) {
      rows.row(row, values);
      for (int block = 0; block < across; block++) {
        norms[row / BLOCK * across + block] +=
            squares(values, BLOCK * block, Math.min(columns, BLOCK * (block + 1)));
      }
    }
    boolean[] kept = kept(norms);
    return (row, to) -> {
      rows.row(row, to);
      int first = (int) (row / BLOCK) * across;
      for (int i = 0; i < to.length; i++) {
        to[i] = kept[first + i / BLOCK] ? to[i] : 0;
      }
    };
  }

  private static double squares(float[] values, int from, int to) {
    double squares = 0;
    for (int i = from; i < to; i++) {
      squares += (double) values[i] * values[i];
    }
    return squares;
  }

  /** The largest, as many as the share leaves; of equal ones the first. */
  private boolean[] kept(double[] norms) {
    int stay = norms.length - (int) Math.round(norms.length * dropped);
    Integer[] order = new Integer[norms.length];
    Arrays.setAll(order, i -> i);
    Arrays.sort(order, (a, b) -> Double.compare(norms[b], norms[a]));
    boolean[] kept = new boolean[norms.length];
    for (int i = 0; i < stay; i++) {
      kept[order[i]] = true;
    }
    return kept;
  }

  @Override
  public String toString() {
    return pattern == Pattern.TWO_OF_FOUR ? pattern.label : pattern.label + ":" + dropped;
  }
}
