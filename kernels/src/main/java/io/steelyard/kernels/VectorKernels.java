package io.steelyard.kernels;

import static io.steelyard.kernels.Lanes.COUNT;
import static io.steelyard.kernels.ThreadTeam.share;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/** The portable fast tier: the JDK's Vector API over all threads. */
final class VectorKernels implements Kernels {
  /** Rows that are not worth waking the other threads for. */
  private static final int ALONE = 4;

  private final ThreadTeam team;
  private final int few;
  private final VectorMatmul matmul;
  private final Scratch shared = new Scratch();
  private final Scratch[] own;

  VectorKernels(ThreadTeam team, boolean deterministic) {
    this.team = team;
    few = deterministic ? Integer.MAX_VALUE : VectorMatmul.FEW;
    matmul = new VectorMatmul(team, few);
    own = new Scratch[team.threads()];
    for (int i = 0; i < own.length; i++) {
      own[i] = new Scratch();
    }
  }

  @Override
  public Tier tier() {
    return Tier.VECTOR;
  }

  @Override
  public String description() {
    return VectorTier.description();
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
    return few;
  }

  @Override
  public long scratchBytes() {
    long bytes = shared.bytes() + matmul.scratchBytes();
    for (Scratch scratch : own) {
      bytes += scratch.bytes();
    }
    return bytes;
  }

  @Override
  public Matrix prepare(List<Tensor> parts, Arena arena) {
    return StackedMatrix.of(parts);
  }

  @Override
  public void embed(Matrix table, int[] ids, int from, int tokens, Rows out) {
    Operands.embed(table, ids, from, tokens, out);
    StackedMatrix stacked = (StackedMatrix) table;
    for (int token = 0; token < tokens; token++) {
      int p = stacked.part(ids[from + token]);
      Tensor part = stacked.parts().get(p);
      long row = ids[from + token] - stacked.firstRow(p);
      VectorDecode.run(part, row, 0, table.columns(), out.address(token));
    }
  }

  @Override
  public void matmul(Matrix weights, Rows x, Rows y, int tokens) {
    Operands.matmul(weights, x, y, tokens);
    matmul.multiply((StackedMatrix) weights, x, y, tokens);
  }

  /** An operator on single rows. */
  @FunctionalInterface
  private interface RowOperator {
    /**
     * Handles one row.
     *
     * @param lanes address of scratch memory for one vector
     */
    void apply(int row, long lanes);
  }

  /** Deals rows to threads, if there are enough. */
  private void eachRow(int tokens, RowOperator operator) {
    if (tokens <= ALONE) {
      rows(0, tokens, operator, 0);
    } else {
      team.run(
          (member, members) ->
              rows(
                  share(tokens, member, members),
                  share(tokens, member + 1, members),
                  operator,
                  member));
    }
  }

  private void rows(int from, int to, RowOperator operator, int member) {
    long lanes = own[member].atLeast(Lanes.BYTES);
    for (int row = from; row < to; row++) {
      operator.apply(row, lanes);
    }
  }

  @Override
  public void rmsNorm(Rows x, Rows weight, float epsilon, Rows y, int tokens) {
    Operands.rmsNorm(x, weight, y, tokens);
    long w = weight.address(0);
    int width = weight.width();
    eachRow(
        tokens,
        (row, lanes) -> {
          for (int i = 0; i < x.width(); i += width) {
            rmsNorm(x.address(row) + 4L * i, w, epsilon, y.address(row) + 4L * i, width, lanes);
          }
        });
  }

  private static void rmsNorm(long x, long weight, float epsilon, long y, int width, long lanes) {
    FloatVector sum = Lanes.broadcastOf(0);
    int whole = width - width % COUNT;
    for (int i = 0; i < whole; i += COUNT) {
      FloatVector v = Lanes.load(x + 4L * i);
      sum = v.fma(v, sum);
    }
    float squares = Lanes.sum(sum, lanes);
    for (int i = whole; i < width; i++) {
      squares += Lanes.scalar(x + 4L * i) * Lanes.scalar(x + 4L * i);
    }
    float scale = (float) (1 / Math.sqrt(squares / width + epsilon));
    for (int i = 0; i < whole; i += COUNT) {
      FloatVector v = Lanes.load(x + 4L * i).mul(scale).mul(Lanes.load(weight + 4L * i));
      Lanes.store(y + 4L * i, v);
    }
    for (int i = whole; i < width; i++) {
      Lanes.put(y + 4L * i, Lanes.scalar(x + 4L * i) * scale * Lanes.scalar(weight + 4L * i));
    }
  }

  @Override
  public void layerNorm(Rows x, Rows weight, float epsilon, Rows y, int tokens) {
    Operands.layerNorm(x, weight, y, tokens);
    long w = weight.address(0);
    eachRow(
        tokens,
        (row, lanes) -> {
          centre(x.address(row), y.address(row), x.width(), lanes);
          rmsNorm(y.address(row), w, epsilon, y.address(row), x.width(), lanes);
        });
  }

  /** Subtracts the mean. */
  private static void centre(long x, long y, int width, long lanes) {
    FloatVector sum = Lanes.broadcastOf(0);
    int whole = width - width % COUNT;
    for (int i = 0; i < whole; i += COUNT) {
      sum = sum.add(Lanes.load(x + 4L * i));
    }
    float total = Lanes.sum(sum, lanes);
    for (int i = whole; i < width; i++) {
      total += Lanes.scalar(x + 4L * i);
    }
    float mean = total / width;
    for (int i = 0; i < whole; i += COUNT) {
      Lanes.store(y + 4L * i, Lanes.load(x + 4L * i).sub(mean));
    }
    for (int i = whole; i < width; i++) {
      Lanes.put(y + 4L * i, Lanes.scalar(x + 4L * i) - mean);
    }
  }

  @Override
  public void rope(Rope rope, Rows angles, Rows x, int headDimension, int tokens) {
    Operands.rope(rope, angles, x, headDimension, tokens);
    int pairs = rope.dimensions() / 2;
    boolean interleaved = rope.layout() == Rope.Layout.INTERLEAVED;
    eachRow(
        tokens,
        (row, lanes) -> {
          long angle = angles.address(row);
          for (int head = 0; head < x.width(); head += headDimension) {
            long at = x.address(row) + 4L * head;
            if (interleaved) {
              rotate(at, 8, at + 4, 8, angle, pairs);
            } else {
              rotate(at, 4, at + 4L * pairs, 4, angle, pairs);
            }
          }
        });
  }

  private static void rotate(
      long first, int firstStep, long second, int secondStep, long angle, int pairs) {
    for (int i = 0; i < pairs; i++) {
      float cos = Lanes.scalar(angle + 4L * i);
      float sin = Lanes.scalar(angle + 4L * (pairs + i));
      float a = Lanes.scalar(first);
      float b = Lanes.scalar(second);
      Lanes.put(first, a * cos - b * sin);
      Lanes.put(second, a * sin + b * cos);
      first += firstStep;
      second += secondStep;
    }
  }

  @Override
  public KeyValues keyValues(Arena arena, KeyValues.Shape shape) {
    return new VectorCache(arena, shape);
  }

  @Override
  public void store(KeyValues cache, Rows keys, Rows values, int position, int tokens) {
    Operands.store(cache, keys, values, position, tokens);
    VectorCache vectors = (VectorCache) cache;
    eachRow(
        tokens,
        (row, lanes) -> vectors.store(position + row, keys.address(row), values.address(row)));
  }

  @Override
  public void attention(
      Rows queries, KeyValues cache, int position, AttentionRule rule, Rows out, int tokens) {
    Operands.attention(queries, cache, position, out, tokens);
    VectorCache vectors = (VectorCache) cache;
    if (tokens <= few) {
      VectorTokenAttention attention =
          new VectorTokenAttention(vectors, queries, out, position, tokens, rule, shared, own);
      team.run(attention::run);
      attention.merge();
    } else {
      VectorPromptAttention attention =
          new VectorPromptAttention(vectors, queries, out, position, tokens, rule, own);
      team.run(attention::run);
    }
  }

  @Override
  public void gate(Activation activation, Rows gate, Rows up, Rows out, int tokens) {
    Operands.elementwise(gate, up, out, tokens);
    eachRow(
        tokens,
        (row, lanes) ->
            gate(activation, gate.address(row), up.address(row), out.address(row), gate.width()));
  }

  private static void gate(Activation activation, long gate, long up, long out, int width) {
    int whole = width - width % COUNT;
    for (int i = 0; i < whole; i += COUNT) {
      FloatVector activated = activated(activation, Lanes.load(gate + 4L * i));
      Lanes.store(out + 4L * i, activated.mul(Lanes.load(up + 4L * i)));
    }
    for (int i = whole; i < width; i++) {
      float gated = (float) activation.apply(Lanes.scalar(gate + 4L * i));
      Lanes.put(out + 4L * i, gated * Lanes.scalar(up + 4L * i));
    }
  }

  private static FloatVector activated(Activation activation, FloatVector x) {
    FloatVector curve = activation == Activation.SILU ? x : geluCurve(x);
    return x.div(Lanes.exp(curve.neg()).add(1f));
  }

  private static FloatVector geluCurve(FloatVector x) {
    return x.mul(x).mul(Activation.CUBE).add(1f).mul(x).mul(Activation.SLOPE);
  }

  /** What becomes of the values of a row, whole vectors of them and those that are left. */
  private void each(Rows x, int tokens, UnaryOperator<FloatVector> lanes, FloatOperator single) {
    Operands.rows(x, tokens);
    int whole = x.width() - x.width() % COUNT;
    eachRow(
        tokens,
        (row, scratch) -> {
          long at = x.address(row);
          for (int i = 0; i < whole; i += COUNT) {
            Lanes.store(at + 4L * i, lanes.apply(Lanes.load(at + 4L * i)));
          }
          for (int i = whole; i < x.width(); i++) {
            Lanes.put(at + 4L * i, single.apply(Lanes.scalar(at + 4L * i)));
          }
        });
  }

  @FunctionalInterface
  private interface FloatOperator {
    float apply(float value);
  }

  @Override
  public void activate(Activation activation, Rows x, int tokens) {
    each(x, tokens, v -> activated(activation, v), v -> (float) activation.apply(v));
  }

  @Override
  public void addBias(Rows x, Rows bias, int tokens) {
    Operands.bias(x, bias, tokens);
    eachRow(tokens, (row, lanes) -> add(x.address(row), bias.address(0), x.width()));
  }

  @Override
  public void scale(Rows x, float factor, int tokens) {
    each(x, tokens, v -> v.mul(factor), v -> v * factor);
  }

  @Override
  public void softCap(Rows x, float cap, int tokens) {
    each(x, tokens, v -> softCap(v, cap), v -> (float) (cap * Math.tanh(v / cap)));
  }

  /** {@code tanh(x) = (1 - e) / (1 + e)} with {@code e = exp(-2·|x|)}, and the sign of x. */
  private static FloatVector softCap(FloatVector x, float cap) {
    FloatVector e = Lanes.exp(x.abs().mul(-2 / cap));
    FloatVector size = e.neg().add(1f).div(e.add(1f)).mul(cap);
    return size.blend(size.neg(), x.compare(VectorOperators.LT, 0f));
  }

  /** What attention makes of scaled scores. */
  static FloatVector score(FloatVector scaled, AttentionRule rule) {
    return rule.softCap() == 0 ? scaled : softCap(scaled, rule.softCap());
  }

  @Override
  public void add(Rows x, Rows delta, int tokens) {
    Operands.elementwise(x, delta, x, tokens);
    eachRow(tokens, (row, lanes) -> add(x.address(row), delta.address(row), x.width()));
  }

  private static void add(long x, long delta, int width) {
    int whole = width - width % COUNT;
    for (int i = 0; i < whole; i += COUNT) {
      Lanes.store(x + 4L * i, Lanes.load(x + 4L * i).add(Lanes.load(delta + 4L * i)));
    }
    for (int i = whole; i < width; i++) {
      Lanes.put(x + 4L * i, Lanes.scalar(x + 4L * i) + Lanes.scalar(delta + 4L * i));
    }
  }

  @Override
  public void multiply(Rows x, Rows by, int tokens) {
    Operands.elementwise(x, by, x, tokens);
    eachRow(tokens, (row, lanes) -> multiply(x.address(row), by.address(row), x.width()));
  }

  private static void multiply(long x, long by, int width) {
    int whole = width - width % COUNT;
    for (int i = 0; i < whole; i += COUNT) {
      Lanes.store(x + 4L * i, Lanes.load(x + 4L * i).mul(Lanes.load(by + 4L * i)));
    }
    for (int i = whole; i < width; i++) {
      Lanes.put(x + 4L * i, Lanes.scalar(x + 4L * i) * Lanes.scalar(by + 4L * i));
    }
  }

  @Override
  public void close() {
    team.close();
    matmul.close();
    shared.close();
    for (Scratch scratch : own) {
      scratch.close();
    }
  }
}
