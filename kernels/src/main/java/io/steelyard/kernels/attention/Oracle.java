package io.steelyard.kernels.attention;

import io.steelyard.kernels.AttentionBand;
import io.steelyard.kernels.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Dense attention in double precision over every key that a {@link Plan}'s definition lets a query
 * see: what each variant has to match before it is timed.
 */
public final class Oracle {
  /** What rounding explains of a logarithm: it has the error of the scores that it is about. */
  private static final double LOG_SUMS = 2e-5;

  /** A thread's scores of a row: what is checked is weighed by the memory of its process, too. */
  private static final ThreadLocal<double[]> SCORES = ThreadLocal.withInitial(() -> new double[0]);

  private Oracle() {}

  /**
   * How far results are from the definition.
   *
   * @param largest difference of a value
   * @param relative Frobenius norm of the difference, by that of what was expected
   * @param largestLogSum difference of a row's logarithm of its sum, as a share of it where it is
   *     over 1
   * @param rows that were checked
   * @param density share of the keys up to the causal limit that these rows see by the definition
   */
  public record Deviation(
      double largest, double relative, double largestLogSum, long rows, double density) {
    /**
     * Whether it is rounding.
     *
     * <p>Scores are products of float32 with sums in some order, off by about {@code √dimension ·
     * 2⁻²⁴} of their terms; weights by the exponential's 2e-7 and what the scores' error makes of
     * them. For values of about 1 this has stayed under 2e-6; results in 16 bits are rounded by
     * half a place more.
     */
    public boolean isRounding(DataType type) {
      return relative <= bound(type) && largestLogSum <= LOG_SUMS && Double.isFinite(largest);
    }
  }

  /** The relative error that rounding explains. */
  public static double bound(DataType type) {
    double rounding =
        switch (type) {
          case F16 -> 0x1p-11;
          case BF16 -> 0x1p-8;
          default -> 0;
        };
    return 1e-5 + rounding;
  }

  /** Checks all rows. */
  public static Deviation check(AttentionInputs inputs, Plan plan, AttentionOutputs outputs) {
    return check(inputs, plan, outputs, inputs.shape().length(), 1);
  }

  /**
   * Checks some rows of every head.
   *
   * @param rows of a head, drawn by the seed where a head has more; the first and the last are
   *     among them
   */
  public static Deviation check(
      AttentionInputs inputs, Plan plan, AttentionOutputs outputs, int rows, long seed) {
    AttentionShape shape = inputs.shape();
    int[] queries = queries(shape.length(), rows, seed);
    Sums[] sums =
        IntStream.range(0, shape.batch() * shape.heads() * queries.length)
            .parallel()
            .mapToObj(
                i -> {
                  int head = i / queries.length;
                  return one(
                      inputs,
                      plan,
                      outputs,
                      head / shape.heads(),
                      head % shape.heads(),
                      queries[i % queries.length]);
                })
            .toArray(Sums[]::new);
    double largest = 0;
    double largestLogSum = 0;
    double errors = 0;
    double squares = 0;
    long seen = 0;
    long visible = 0;
    for (Sums one : sums) {
      largest = worse(largest, one.largest());
      largestLogSum = worse(largestLogSum, one.logSum());
      errors += one.errors();
      squares += one.squares();
      seen += one.seen();
      visible += one.visible();
    }
    double relative = squares == 0 ? Math.sqrt(errors) : Math.sqrt(errors / squares);
    double density = visible == 0 ? 0 : (double) seen / visible;
    return new Deviation(largest, relative, largestLogSum, sums.length, density);
  }

  /** A NaN is worse than any number. */
  private static double worse(double a, double b) {
    return Double.isNaN(b) ? Double.POSITIVE_INFINITY : Math.max(a, b);
  }

  private static int[] queries(int length, int rows, long seed) {
    if (rows >= length) {
      return IntStream.range(0, length).toArray();
    }
    Random random = new Random(seed);
    return IntStream.concat(IntStream.of(0, length - 1), random.ints(0, length))
        .distinct()
        .limit(Math.min(length, Math.max(2, rows)))
        .toArray();
  }

  private record Sums(
      double largest, double logSum, double errors, double squares, long seen, long visible) {}

  private static Sums one(
      AttentionInputs inputs, Plan plan, AttentionOutputs outputs, int batch, int head, int query) {
    AttentionShape shape = inputs.shape();
    double[] expected = new double[shape.dimension()];
    double logSum = plan.row(inputs, batch, head, query, expected);
    double largest = 0;
    double errors = 0;
    double squares = 0;
    long at = index(shape, batch, query, head, shape.heads());
    for (int d = 0; d < expected.length; d++) {
      double difference = value(outputs.out(), outputs.type(), at + d) - expected[d];
      largest = worse(largest, Math.abs(difference));
      errors += difference * difference;
      squares += expected[d] * expected[d];
    }
    long row = ((long) batch * shape.heads() + head) * shape.length() + query;
    double sum = outputs.logSums().getAtIndex(ValueLayout.JAVA_FLOAT, row);
    // The scores' magnitude is what their rounding is a share of.
    double off = logSum == sum ? 0 : Math.abs(sum - logSum) / Math.max(1, Math.abs(logSum));
    int visible = shape.causal() ? query + 1 : shape.length();
    long seen =
        IntStream.range(0, visible).filter(key -> plan.times(batch, head, query, key) > 0).count();
    return new Sums(largest, off, errors, squares, seen, visible);
  }

  /** {@link Plan#row} by a plan's {@link Plan#times} and {@link Plan#score}. */
  static double row(
      AttentionInputs inputs, Plan plan, int batch, int head, int query, double[] out) {
    return row(inputs, plan, batch, head, query, 0, inputs.shape().dimension(), out);
  }

  /** The same where scores are products of some values of queries and keys alone. */
  static double row(
      AttentionInputs inputs,
      Plan plan,
      int batch,
      int head,
      int query,
      int from,
      int to,
      double[] out) {
    AttentionShape shape = inputs.shape();
    int kvHead = head / shape.group();
    float[] row = new float[shape.dimension()];
    read(inputs.queries(), inputs.type(), index(shape, batch, query, head, shape.heads()), row);
    double[] asked = new double[row.length];
    Arrays.setAll(asked, d -> row[d]);
    double[] scores = SCORES.get();
    if (scores.length < shape.length()) {
      scores = new double[shape.length()];
      SCORES.set(scores);
    }
    double largest = Double.NEGATIVE_INFINITY;
    for (int key = 0; key < shape.length(); key++) {
      scores[key] = Double.NEGATIVE_INFINITY;
      if (plan.times(batch, head, query, key) > 0) {
        long at = index(shape, batch, key, kvHead, shape.kvHeads());
        read(inputs.keys(), inputs.type(), at, row);
        double score = product(asked, row, from, to) / Math.sqrt(to - from);
        scores[key] = plan.score(score, batch, head, query, key);
        largest = Math.max(largest, scores[key]);
      }
    }
    Arrays.fill(out, 0);
    if (largest == Double.NEGATIVE_INFINITY) {
      return AttentionBand.NO_KEYS;
    }
    double total = 0;
    for (int key = 0; key < shape.length(); key++) {
      if (scores[key] != Double.NEGATIVE_INFINITY) {
        double weight = plan.times(batch, head, query, key) * Math.exp(scores[key] - largest);
        total += weight;
        long at = index(shape, batch, key, kvHead, shape.kvHeads());
        read(inputs.values(), inputs.type(), at, row);
        for (int d = 0; d < out.length; d++) {
          out[d] += weight * row[d];
        }
      }
    }
    for (int d = 0; d < out.length; d++) {
      out[d] /= total;
    }
    return largest + Math.log(total);
  }

  private static double product(double[] by, float[] row, int from, int to) {
    double sum = 0;
    for (int d = from; d < to; d++) {
      sum += by[d] * row[d];
    }
    return sum;
  }

  /** Reads a head's values of a position. */
  private static void read(MemorySegment memory, DataType type, long at, float[] row) {
    if (type == DataType.F32) {
      // At once: one by one, most of a short check's time goes into checks of places.
      MemorySegment.copy(memory, ValueLayout.JAVA_FLOAT, at * Float.BYTES, row, 0, row.length);
    } else {
      for (int d = 0; d < row.length; d++) {
        row[d] = value(memory, type, at + d);
      }
    }
  }

  /** Where a head's values of a position begin. */
  private static long index(AttentionShape shape, int batch, int position, int head, int heads) {
    return (((long) batch * shape.length() + position) * heads + head) * shape.dimension();
  }

  /** A value as a number. */
  public static float value(MemorySegment memory, DataType type, long index) {
    return switch (type) {
      case F32 -> memory.getAtIndex(ValueLayout.JAVA_FLOAT, index);
      case F16 -> float16(memory, index);
      default -> bfloat16(memory, index);
    };
  }

  private static float float16(MemorySegment memory, long index) {
    return Float.float16ToFloat(memory.getAtIndex(ValueLayout.JAVA_SHORT, index));
  }

  private static float bfloat16(MemorySegment memory, long index) {
    return Float.intBitsToFloat(memory.getAtIndex(ValueLayout.JAVA_SHORT, index) << 16);
  }
}
