package io.steelyard.kernels;

import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * Operators that are timed: each call becomes an event of the JDK's flight recorder, and all are
 * summed up by operator and shape.
 */
public final class ProfiledKernels extends ForwardingKernels {

  /** One call of an operator, in a flight recording. */
  @Name(OperatorEvent.NAME)
  @Label("Operator")
  @Category("Steelyard")
  @StackTrace(false)
  public static final class OperatorEvent extends Event {
    /** The event's name in a recording. */
    public static final String NAME = "io.steelyard.Operator";

    @Label("Operator")
    String operator;

    @Label("Kernel")
    String kernel;

    @Label("Bytes of weights and cache")
    @DataAmount
    long bytes;
  }

  /**
   * What was measured of one kernel.
   *
   * @param operator such as {@code matmul}
   * @param kernel the operator's types and sizes, such as {@code Q8_0 8192×2048, 512 tokens}
   * @param calls how often it ran
   * @param nanos all calls together
   * @param bytes of weights and cached keys and values that all calls read
   * @param products multiply-and-add operations of all calls
   * @param activations bytes of activations that all calls read and wrote
   */
  public record Line(
      String operator,
      String kernel,
      long calls,
      long nanos,
      long bytes,
      long products,
      long activations) {}

  private static final class Tally {
    private final String kernel;
    private long calls;
    private long nanos;
    private long bytes;
    private long products;
    private long activations;

    private Tally(String kernel) {
      this.kernel = kernel;
    }
  }

  /** What is summed up together; made in every call, so it is cheap to make. */
  private record Key(String operator, Object of, int tokens) {}

  private record Weights(String name, long bytes) {}

  private final Map<Key, Tally> tallies = new HashMap<>();
  private final IdentityHashMap<Matrix, Weights> matrices = new IdentityHashMap<>();
  private boolean measuring = true;

  /** Wraps operators, which are closed with these. */
  public ProfiledKernels(Kernels kernels) {
    super(kernels);
  }

  /** All that ran so far, the most time first. */
  public List<Line> lines() {
    return tallies.entrySet().stream()
        .map(
            entry -> {
              Tally t = entry.getValue();
              return new Line(
                  entry.getKey().operator(),
                  t.kernel,
                  t.calls,
                  t.nanos,
                  t.bytes,
                  t.products,
                  t.activations);
            })
        .sorted(Comparator.comparingLong(Line::nanos).reversed())
        .toList();
  }

  /** Forgets what ran so far, as after a warm-up. */
  public void reset() {
    tallies.clear();
  }

  /** Whether what runs from now on counts; at first it does. */
  public void measure(boolean on) {
    measuring = on;
  }

  /**
   * @param of types and sizes
   * @param values of activations that are read and written for each token
   */
  private void timed(
      String operator,
      Object of,
      int tokens,
      long bytes,
      long products,
      long values,
      Runnable operation) {
    if (!measuring) {
      operation.run();
      return;
    }
    Tally tally = tally(operator, of, tokens);
    OperatorEvent event = new OperatorEvent();
    event.begin();
    long start = System.nanoTime();
    operation.run();
    long nanos = System.nanoTime() - start;
    if (event.shouldCommit()) {
      event.operator = operator;
      event.kernel = tally.kernel;
      event.bytes = bytes;
      event.commit();
    }
    tally.calls++;
    tally.nanos += nanos;
    tally.bytes += bytes;
    tally.products += products;
    tally.activations += Float.BYTES * values * tokens;
  }

  private Tally tally(String operator, Object of, int tokens) {
    Key key = new Key(operator, of, tokens);
    Tally tally = tallies.get(key);
    if (tally == null) {
      tally = new Tally(of + (tokens == 1 ? ", 1 token" : ", " + tokens + " tokens"));
      tallies.put(key, tally);
    }
    return tally;
  }

  private Weights weights(Matrix matrix) {
    return matrices.computeIfAbsent(
        matrix,
        _ ->
            new Weights(
                "%s %d×%d".formatted(heldTypes(matrix), matrix.rows(), matrix.columns()),
                matrix.held().stream().mapToLong(part -> part.data().byteSize()).sum()));
  }

  /** The types, and those that the tier holds them as where it has no kernels for them. */
  private static String heldTypes(Matrix matrix) {
    String stored = types(matrix.parts());
    String held = types(matrix.held());
    return stored.equals(held) ? stored : stored + " as " + held;
  }

  private static String types(List<Tensor> tensors) {
    return tensors.stream()
        .map(part -> part.type().name())
        .distinct()
        .collect(Collectors.joining("+"));
  }

  @Override
  public String description() {
    return kernels.description() + ", profiled";
  }

  @Override
  public void embed(Matrix table, int[] ids, int from, int tokens, Rows out) {
    timed(
        "embed",
        types(table.parts()),
        tokens,
        tokens * table.parts().getFirst().rowBytes(),
        0,
        out.width(),
        () -> kernels.embed(table, ids, from, tokens, out));
  }

  @Override
  public void matmul(Matrix weights, Rows x, Rows y, int tokens) {
    Weights of = weights(weights);
    timed(
        "matmul",
        of.name(),
        tokens,
        of.bytes(),
        (long) weights.rows() * weights.columns() * tokens,
        (long) weights.rows() + weights.columns(),
        () -> kernels.matmul(weights, x, y, tokens));
  }

  @Override
  public void rmsNorm(Rows x, Rows weight, float epsilon, Rows y, int tokens) {
    timed(
        "rmsNorm",
        x.width(),
        tokens,
        0,
        0,
        2L * x.width(),
        () -> kernels.rmsNorm(x, weight, epsilon, y, tokens));
  }

  @Override
  public void layerNorm(Rows x, Rows weight, float epsilon, Rows y, int tokens) {
    timed(
        "layerNorm",
        x.width(),
        tokens,
        0,
        0,
        2L * x.width(),
        () -> kernels.layerNorm(x, weight, epsilon, y, tokens));
  }

  @Override
  public void rope(Rope rope, Rows angles, Rows x, int headDimension, int tokens) {
    timed(
        "rope",
        x.width(),
        tokens,
        0,
        0,
        2L * x.width(),
        () -> kernels.rope(rope, angles, x, headDimension, tokens));
  }

  @Override
  public void store(KeyValues cache, Rows keys, Rows values, int position, int tokens) {
    timed(
        "store",
        cache.shape().type(),
        tokens,
        0,
        0,
        (long) keys.width() + values.width(),
        () -> kernels.store(cache, keys, values, position, tokens));
  }

  @Override
  public void replace(KeyValues cache, Rows keys, Rows values, int position, int tokens, int end) {
    timed(
        "store",
        cache.shape().type(),
        tokens,
        0,
        0,
        (long) keys.width() + values.width(),
        () -> kernels.replace(cache, keys, values, position, tokens, end));
  }

  @Override
  public void replace(List<? extends CachedSpan> spans, Rows keys, Rows values) {
    int tokens = 0;
    for (CachedSpan span : spans) {
      tokens += span.tokens();
    }
    timed(
        "store",
        spans.getFirst().keyValues().shape().type(),
        tokens,
        0,
        0,
        (long) keys.width() + values.width(),
        () -> kernels.replace(spans, keys, values));
  }

  @Override
  public void attention(
      Rows queries, KeyValues cache, int position, AttentionRule rule, Rows out, int tokens) {
    timed(
        "attention",
        cache.shape().type(),
        tokens,
        cachedBytes(cache, position, rule, tokens),
        2 * rule.seen(position, tokens) * queries.width(),
        2L * queries.width(),
        () -> kernels.attention(queries, cache, position, rule, out, tokens));
  }

  private static long cachedBytes(KeyValues cache, int position, AttentionRule rule, int tokens) {
    KeyValues.Shape shape = cache.shape();
    long positions = (long) position + tokens - rule.first(position);
    return 2 * shape.type().bytes(shape.width() * positions);
  }

  @Override
  public void attention(
      Rows queries, List<? extends CachedSpan> spans, AttentionRule rule, Rows out) {
    int tokens = 0;
    long bytes = 0;
    long seen = 0;
    for (CachedSpan span : spans) {
      int position = span.queriesFrom();
      tokens += span.tokens();
      bytes += cachedBytes(span.keyValues(), position, rule, span.tokens());
      seen += rule.seen(position, span.tokens());
    }
    timed(
        "attention",
        spans.getFirst().keyValues().shape().type(),
        tokens,
        bytes,
        2 * seen * queries.width(),
        2L * queries.width(),
        () -> kernels.attention(queries, spans, rule, out));
  }

  @Override
  public void gate(Activation activation, Rows gate, Rows up, Rows out, int tokens) {
    timed(
        activation.label() + "Gate",
        gate.width(),
        tokens,
        0,
        0,
        3L * gate.width(),
        () -> kernels.gate(activation, gate, up, out, tokens));
  }

  @Override
  public void activate(Activation activation, Rows x, int tokens) {
    timed(
        activation.label(),
        x.width(),
        tokens,
        0,
        0,
        2L * x.width(),
        () -> kernels.activate(activation, x, tokens));
  }

  @Override
  public void addBias(Rows x, Rows bias, int tokens) {
    timed(
        "addBias", x.width(), tokens, 0, 0, 2L * x.width(), () -> kernels.addBias(x, bias, tokens));
  }

  @Override
  public void scale(Rows x, float factor, int tokens) {
    timed("scale", x.width(), tokens, 0, 0, 2L * x.width(), () -> kernels.scale(x, factor, tokens));
  }

  @Override
  public void softCap(Rows x, float cap, int tokens) {
    timed(
        "softCap", x.width(), tokens, 0, 0, 2L * x.width(), () -> kernels.softCap(x, cap, tokens));
  }

  @Override
  public void add(Rows x, Rows delta, int tokens) {
    timed("add", x.width(), tokens, 0, 0, 3L * x.width(), () -> kernels.add(x, delta, tokens));
  }

  @Override
  public void multiply(Rows x, Rows by, int tokens) {
    timed(
        "multiply", x.width(), tokens, 0, 0, 3L * x.width(), () -> kernels.multiply(x, by, tokens));
  }
}
