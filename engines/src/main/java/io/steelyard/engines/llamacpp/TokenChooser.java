package io.steelyard.engines.llamacpp;

import io.steelyard.lab.worker.DecodeRequest.Sampling;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Chooses the next token from logits, as {@link Sampling} says. */
@FunctionalInterface
interface TokenChooser {
  int choose(MemorySegment logits) throws EngineException;

  /**
   * The chooser of a sampling.
   *
   * @throws EngineException if a value of the sampling makes no sense
   */
  static TokenChooser of(Sampling sampling, LogitRow row) throws EngineException {
    if (!(sampling.temperature() >= 0) || !Float.isFinite(sampling.temperature())) {
      throw bad("temperature", "0 or more", sampling.temperature());
    }
    if (sampling.topK() < 0) {
      throw bad("top-k", "0 or more", sampling.topK());
    }
    if (!(sampling.topP() > 0 && sampling.topP() <= 1)) {
      throw bad("top-p", "above 0 and at most 1", sampling.topP());
    }
    if (!(sampling.minP() >= 0 && sampling.minP() <= 1)) {
      throw bad("min-p", "0 to 1", sampling.minP());
    }
    return sampling.temperature() == 0 ? row::argmax : new Sampled(sampling, row);
  }

  private static EngineException bad(String name, String range, Object value) {
    return new EngineException(
        Kind.BAD_REQUEST, "%s must be %s, not %s".formatted(name, range, value));
  }

  /** Temperature, then top-k, top-p and min-p, then a draw. */
  final class Sampled implements TokenChooser {
    private final Sampling sampling;
    private final LogitRow row;
    private final SplittableRandom random;

    private Sampled(Sampling sampling, LogitRow row) {
      this.sampling = sampling;
      this.row = row;
      this.random = new SplittableRandom(sampling.seed());
    }

    @Override
    public int choose(MemorySegment logits) throws EngineException {
      row.argmax(logits);
      float[] values = row.copy(logits);
      int[] ids = descending(values);
      double[] weights = new double[ids.length];
      for (int i = 0; i < ids.length; i++) {
        weights[i] = Math.exp(((double) values[ids[i]] - values[ids[0]]) / sampling.temperature());
      }
      int kept = keep(weights);
      double target = random.nextDouble() * Arrays.stream(weights, 0, kept).sum();
      for (int i = 0; i < kept - 1; i++) {
        target -= weights[i];
        if (target < 0) {
          return ids[i];
        }
      }
      return ids[kept - 1];
    }

    /** The ids that top-k leaves, most likely first (ties: lowest id). */
    private int[] descending(float[] values) {
      long[] keys = new long[values.length];
      for (int id = 0; id < keys.length; id++) {
        int bits = Float.floatToIntBits(values[id]);
        int ascending = bits ^ ((bits >> 31) & Integer.MAX_VALUE);
        keys[id] = ((long) ~ascending << Integer.SIZE) | id;
      }
      Arrays.sort(keys);
      int count = sampling.topK() == 0 ? keys.length : Math.min(keys.length, sampling.topK());
      return Arrays.stream(keys, 0, count).mapToInt(key -> (int) key).toArray();
    }

    /** How many of the descending weights pass top-p and min-p; at least one. */
    private int keep(double[] weights) {
      double enough = sampling.topP() * Arrays.stream(weights).sum();
      int kept = 0;
      double mass = 0;
      while (kept < weights.length && (kept == 0 || mass < enough)) {
        mass += weights[kept++];
      }
      while (kept > 1 && weights[kept - 1] < sampling.minP() * weights[0]) {
        kept--;
      }
      return kept;
    }
  }
}
