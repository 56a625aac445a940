package io.steelyard.lab.parity;

import java.lang.foreign.MemorySegment;

/**
 * How well a model foresees a text.
 *
 * @param tokens how many were scored
 * @param perplexity exp of their mean negative log-likelihood, in nats
 * @param error its standard error, which takes the tokens as independent of one another; not a
 *     number of fewer than two
 */
public record TextScore(long tokens, double perplexity, double error) {
  static TextScore of(ExponentialMean surprise) {
    return new TextScore(surprise.count(), surprise.value(), surprise.error());
  }

  /** Begins a score by logits with this many values a position. */
  public static Tally over(int vocabulary) {
    return new Tally(vocabulary);
  }

  /** Sums over the tokens of a text. */
  public static final class Tally {
    private final double[] row;
    private final ExponentialMean surprise = new ExponentialMean();

    private Tally(int vocabulary) {
      row = new double[vocabulary];
    }

    /**
     * Adds the tokens that follow some positions.
     *
     * @param logits float32 little-endian [positions, vocabulary]
     * @param ids of the same positions and one more: what follows a position is the next one's id
     * @throws IllegalArgumentException if the sizes disagree
     */
    public Tally add(MemorySegment logits, int[] ids) {
      long rowBytes = (long) row.length * Float.BYTES;
      if (logits.byteSize() != (ids.length - 1) * rowBytes) {
        throw new IllegalArgumentException(
            "logits of %d bytes, with rows of %d, for %d ids"
                .formatted(logits.byteSize(), rowBytes, ids.length));
      }
      for (int position = 0; position < ids.length - 1; position++) {
        for (int id = 0; id < row.length; id++) {
          row[id] = logits.get(Logits.FLOAT, position * rowBytes + (long) id * Float.BYTES);
        }
        Logits.toLogProbabilities(row);
        surprise.add(-row[ids[position + 1]]);
      }
      return this;
    }

    /** The score of all tokens added. */
    public TextScore score() {
      return TextScore.of(surprise);
    }
  }
}
