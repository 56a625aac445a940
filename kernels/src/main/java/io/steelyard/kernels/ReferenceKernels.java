package io.steelyard.kernels;

import static io.steelyard.kernels.ThreadTeam.share;

import io.steelyard.kernels.codec.Encoder;
import io.steelyard.kernels.codec.TensorCodec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;

/**
 * The oracle: every operator as its definition reads, in scalar code. Weights are decoded exactly,
 * sums are accumulated in double, activations are float32 between operators. Threads only divide
 * independent results, so their number changes nothing.
 */
final class ReferenceKernels implements Kernels {
  static final String DESCRIPTION = "reference scalar";

  private static final int TOGETHER = 4;

  private final ThreadTeam team;

  ReferenceKernels(ThreadTeam team) {
    this.team = team;
  }

  @Override
  public Tier tier() {
    return Tier.REFERENCE;
  }

  @Override
  public String description() {
    return DESCRIPTION;
  }

  @Override
  public String activations(Set<DataType> weights) {
    return "f32";
  }

  @Override
  public int threads() {
    return team.threads();
  }

  @Override
  public int fewTokens() {
    // No operator looks at another token but attention, and that at earlier ones alone.
    return Integer.MAX_VALUE;
  }

  @Override
  public long scratchBytes() {
    return 0;
  }

  @Override
  public Matrix prepare(List<Tensor> parts, Arena arena) {
    return StackedMatrix.of(parts);
  }

  @Override
  public void embed(Matrix table, int[] ids, int from, int tokens, Rows out) {
    Operands.embed(table, ids, from, tokens, out);
    float[] values = new float[table.columns()];
    for (int token = 0; token < tokens; token++) {
      decodeRow(table, ids[from + token], values);
      MemorySegment.copy(values, 0, out.row(token), ValueLayout.JAVA_FLOAT, 0, values.length);
    }
  }

  @Override
  public void matmul(Matrix weights, Rows x, Rows y, int tokens) {
    Operands.matmul(weights, x, y, tokens);
    int columns = weights.columns();
    double[][] inputs = new double[tokens][columns];
    for (int token = 0; token < tokens; token++) {
      widen(row(x, token), inputs[token]);
    }
    team.run(
        (member, members) -> {
          float[] row = new float[columns];
          double[][] rows = new double[TOGETHER][columns];
          double[] sums = new double[TOGETHER];
          int end = share(weights.rows(), member + 1, members);
          for (int r = share(weights.rows(), member, members); r < end; r += TOGETHER) {
            int count = Math.min(TOGETHER, end - r);
            for (int i = 0; i < count; i++) {
              decodeRow(weights, r + i, row);
              widen(row, rows[i]);
            }
            for (int token = 0; token < tokens; token++) {
              dot(rows, inputs[token], sums);
              for (int i = 0; i < count; i++) {
                y.set(token, r + i, (float) sums[i]);
              }
            }
          }
        });
  }

  /**
   * {@value #TOGETHER} sums, each in the order of the columns: one alone waits for its additions.
   */
  private static void dot(double[][] rows, double[] x, double[] sums) {
    double[] a = rows[0];
    double[] b = rows[1];
    double[] c = rows[2];
    double[] d = rows[3];
    double first = 0;
    double second = 0;
    double third = 0;
    double fourth = 0;
    for (int i = 0; i < x.length; i++) {
      double value = x[i];
      first += a[i] * value;
      second += b[i] * value;
      third += c[i] * value;
      fourth += d[i] * value;
    }
    sums[0] = first;
    sums[1] = second;
    sums[2] = third;
    sums[3] = fourth;
  }

  private static void widen(float[] from, double[] to) {
    for (int i = 0; i < from.length; i++) {
      to[i] = from[i];
    }
  }

  private static void decodeRow(Matrix matrix, int row, float[] out) {
    long index = row;
    for (Tensor part : matrix.parts()) {
      if (index < part.rows()) {
        TensorCodec.decode(part, index, out);
        return;
      }
      index -= part.rows();
    }
    throw new IndexOutOfBoundsException("row " + row + " of " + matrix.rows());
  }

  @Override
  public void rmsNorm(Rows x, Rows weight, float epsilon, Rows y, int tokens) {
    Operands.rmsNorm(x, weight, y, tokens);
    int width = weight.width();
    for (int token = 0; token < tokens; token++) {
      for (int from = 0; from < x.width(); from += width) {
        double squares = 0;
        for (int i = from; i < from + width; i++) {
          squares += (double) x.get(token, i) * x.get(token, i);
        }
        double scale = 1 / Math.sqrt(squares / width + epsilon);
        for (int i = from; i < from + width; i++) {
          y.set(token, i, (float) (x.get(token, i) * scale * weight.get(0, i - from)));
        }
      }
    }
  }

  @Override
  public void layerNorm(Rows x, Rows weight, float epsilon, Rows y, int tokens) {
    Operands.layerNorm(x, weight, y, tokens);
    int width = x.width();
    for (int token = 0; token < tokens; token++) {
      double mean = 0;
      for (int i = 0; i < width; i++) {
        mean += x.get(token, i);
      }
      mean /= width;
      double squares = 0;
      for (int i = 0; i < width; i++) {
        squares += (x.get(token, i) - mean) * (x.get(token, i) - mean);
      }
      double scale = 1 / Math.sqrt(squares / width + epsilon);
      for (int i = 0; i < width; i++) {
        y.set(token, i, (float) ((x.get(token, i) - mean) * scale * weight.get(0, i)));
      }
    }
  }

  @Override
  public void rope(Rope rope, Rows angles, Rows x, int headDimension, int tokens) {
    Operands.rope(rope, angles, x, headDimension, tokens);
    int pairs = rope.dimensions() / 2;
    boolean interleaved = rope.layout() == Rope.Layout.INTERLEAVED;
    for (int token = 0; token < tokens; token++) {
      for (int head = 0; head < x.width(); head += headDimension) {
        for (int i = 0; i < pairs; i++) {
          int first = head + (interleaved ? 2 * i : i);
          int second = interleaved ? first + 1 : first + pairs;
          double cos = angles.get(token, i);
          double sin = angles.get(token, pairs + i);
          double a = x.get(token, first);
          double b = x.get(token, second);
          x.set(token, first, (float) (a * cos - b * sin));
          x.set(token, second, (float) (a * sin + b * cos));
        }
      }
    }
  }

  /** Keys, then values: each [position][head][dimension]. */
  private record PlainCache(Shape shape, MemorySegment keys, MemorySegment values)
      implements KeyValues {
    @Override
    public long bytes() {
      return keys.byteSize() + values.byteSize();
    }

    @Override
    public void copy(KeyValues from, int positions) {
      PlainCache other = (PlainCache) from;
      long bytes = shape.type().bytes((long) positions * shape.width());
      MemorySegment.copy(other.keys, 0, keys, 0, bytes);
      MemorySegment.copy(other.values, 0, values, 0, bytes);
    }

    float get(MemorySegment part, int position, int column) {
      long index = (long) position * shape.width() + column;
      return switch (shape.type()) {
        case F32 -> part.getAtIndex(ValueLayout.JAVA_FLOAT, index);
        case F16 -> Float.float16ToFloat(part.getAtIndex(ValueLayout.JAVA_SHORT, index));
        default -> {
          long block = index / 32 * DataType.Q8_0.blockBytes();
          float scale = Float.float16ToFloat(part.get(ValueLayout.JAVA_SHORT, block));
          yield scale * part.get(ValueLayout.JAVA_BYTE, block + 2 + index % 32);
        }
      };
    }

    void set(MemorySegment part, int position, float[] row) {
      long offset = shape.type().bytes((long) position * row.length);
      Encoder.encode(shape.type(), row, 0, row.length, part, offset);
    }
  }

  @Override
  public KeyValues keyValues(Arena arena, KeyValues.Shape shape) {
    long bytes = shape.type().bytes((long) shape.width() * shape.capacity());
    return new PlainCache(
        shape, arena.allocate(bytes, Rows.ALIGNMENT), arena.allocate(bytes, Rows.ALIGNMENT));
  }

  @Override
  public void store(KeyValues cache, Rows keys, Rows values, int position, int tokens) {
    Operands.store(cache, keys, values, position, tokens);
    PlainCache plain = (PlainCache) cache;
    for (int token = 0; token < tokens; token++) {
      plain.set(plain.keys(), position + token, row(keys, token));
      plain.set(plain.values(), position + token, row(values, token));
    }
  }

  private static float[] row(Rows rows, int token) {
    return rows.row(token).toArray(ValueLayout.JAVA_FLOAT);
  }

  @Override
  public void attention(
      Rows queries, KeyValues cache, int position, AttentionRule rule, Rows out, int tokens) {
    Operands.attention(queries, cache, position, out, tokens);
    int heads = queries.width() / cache.shape().dimension();
    team.run(
        (member, members) -> {
          double[] scores = new double[position + tokens];
          for (int item = member; item < heads * tokens; item += members) {
            attend(queries, (PlainCache) cache, position, tokens, rule, out, item, scores);
          }
        });
  }

  /** One head of one token: item is {@code token × heads + head}. */
  private static void attend(
      Rows queries,
      PlainCache cache,
      int position,
      int tokens,
      AttentionRule rule,
      Rows out,
      int item,
      double[] scores) {
    int dimension = cache.shape().dimension();
    int heads = queries.width() / dimension;
    int token = item / heads;
    int query = item % heads * dimension;
    int key = item % heads / (heads / cache.shape().heads()) * dimension;
    int first = rule.first(position + token);
    int end = rule.end(position + token, position + tokens - 1);
    double max = Double.NEGATIVE_INFINITY;
    for (int p = first; p < end; p++) {
      double score = 0;
      for (int i = 0; i < dimension; i++) {
        score += (double) queries.get(token, query + i) * cache.get(cache.keys(), p, key + i);
      }
      score *= rule.scale();
      scores[p] = rule.softCap() == 0 ? score : softCap(score, rule.softCap());
      max = Math.max(max, scores[p]);
    }
    double sum = 0;
    for (int p = first; p < end; p++) {
      scores[p] = Math.exp(scores[p] - max);
      sum += scores[p];
    }
    for (int i = 0; i < dimension; i++) {
      double value = 0;
      for (int p = first; p < end; p++) {
        value += scores[p] * cache.get(cache.values(), p, key + i);
      }
      out.set(token, query + i, (float) (value / sum));
    }
  }

  @Override
  public void gate(Activation activation, Rows gate, Rows up, Rows out, int tokens) {
    Operands.elementwise(gate, up, out, tokens);
    for (int token = 0; token < tokens; token++) {
      for (int i = 0; i < gate.width(); i++) {
        out.set(token, i, (float) (activation.apply(gate.get(token, i)) * up.get(token, i)));
      }
    }
  }

  @Override
  public void activate(Activation activation, Rows x, int tokens) {
    each(x, tokens, (value, column) -> activation.apply(value));
  }

  @Override
  public void addBias(Rows x, Rows bias, int tokens) {
    Operands.bias(x, bias, tokens);
    each(x, tokens, (value, column) -> value + bias.get(0, column));
  }

  @Override
  public void scale(Rows x, float factor, int tokens) {
    each(x, tokens, (value, column) -> value * factor);
  }

  @Override
  public void softCap(Rows x, float cap, int tokens) {
    each(x, tokens, (value, column) -> softCap(value, cap));
  }

  private static double softCap(double value, double cap) {
    return cap * Math.tanh(value / cap);
  }

  /** What becomes of a value in a column. */
  @FunctionalInterface
  private interface ValueOperator {
    double apply(double value, int column);
  }

  private static void each(Rows x, int tokens, ValueOperator operator) {
    Operands.rows(x, tokens);
    for (int token = 0; token < tokens; token++) {
      for (int i = 0; i < x.width(); i++) {
        x.set(token, i, (float) operator.apply(x.get(token, i), i));
      }
    }
  }

  @Override
  public void add(Rows x, Rows delta, int tokens) {
    Operands.elementwise(x, delta, x, tokens);
    for (int token = 0; token < tokens; token++) {
      for (int i = 0; i < x.width(); i++) {
        x.set(token, i, x.get(token, i) + delta.get(token, i));
      }
    }
  }

  @Override
  public void multiply(Rows x, Rows by, int tokens) {
    Operands.elementwise(x, by, x, tokens);
    for (int token = 0; token < tokens; token++) {
      for (int i = 0; i < x.width(); i++) {
        x.set(token, i, x.get(token, i) * by.get(token, i));
      }
    }
  }

  @Override
  public void close() {
    team.close();
  }
}
