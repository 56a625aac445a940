package io.steelyard.kernels.attention;

import io.steelyard.kernels.AttentionRule;
import io.steelyard.kernels.CachedSpan;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.ForwardingKernels;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.KeyValues;
import io.steelyard.kernels.Rows;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * Operators whose attention is a variant's, so that a model can be run with it: what a variant
 * loses is told by what the model then says. It takes part where a whole prompt is one pass from an
 * empty cache; what follows later is computed as ever. The caches of one session must be float32:
 * keys and values are kept beside them as they are stored.
 */
public final class VariantKernels extends ForwardingKernels {
  /** Sees what a layer attended. */
  @FunctionalInterface
  public interface Observer {
    /**
     * Called before the results go on.
     *
     * @param inputs only valid during the call
     * @param plan of the variant
     * @param counts what planning and running it took
     */
    void attended(int layer, AttentionInputs inputs, Plan plan, Counts counts);
  }

  private record Layer(int index, KeyValues.Shape shape, Rows keys, Rows values) {}

  private final Workbench workbench;
  private final IdentityHashMap<KeyValues, Layer> layers = new IdentityHashMap<>();
  private Variant variant;
  private IntPredicate where = _ -> false;
  private Observer observer = (_, _, _, _) -> {};

  /**
   * Wraps operators, which are closed with these. At first their own attention stays.
   *
   * @param workbench of the variants; closed with these, too
   */
  public VariantKernels(Kernels kernels, Workbench workbench) {
    super(kernels);
    this.workbench = workbench;
  }

  /** Attention as the wrapped operators compute it, from now on. */
  public void usual() {
    where = _ -> false;
  }

  /**
   * Attention of a variant, from now on.
   *
   * @param layers in which
   */
  public void use(Variant variant, IntPredicate layers, Observer observer) {
    this.variant = variant;
    this.where = layers;
    this.observer = observer;
  }

  @Override
  public KeyValues keyValues(Arena arena, KeyValues.Shape shape) {
    if (shape.type() != DataType.F32) {
      throw new IllegalArgumentException(
          "variants of attention run in models with a KV cache of f32, not " + shape.type());
    }
    KeyValues cache = super.keyValues(arena, shape);
    layers.put(
        cache,
        new Layer(
            layers.size(),
            shape,
            Rows.allocate(arena, shape.capacity(), shape.width()),
            Rows.allocate(arena, shape.capacity(), shape.width())));
    return cache;
  }

  @Override
  public void store(KeyValues cache, Rows keys, Rows values, int position, int tokens) {
    super.store(cache, keys, values, position, tokens);
    keep(cache, keys, values, position, tokens);
  }

  @Override
  public void replace(KeyValues cache, Rows keys, Rows values, int position, int tokens, int end) {
    super.replace(cache, keys, values, position, tokens, end);
    keep(cache, keys, values, position, tokens);
  }

  @Override
  public void replace(List<? extends CachedSpan> spans, Rows keys, Rows values) {
    super.replace(spans, keys, values);
    int row = 0;
    for (CachedSpan span : spans) {
      keep(span.keyValues(), keys.from(row), values.from(row), span.position(), span.tokens());
      row += span.tokens();
    }
  }

  private void keep(KeyValues cache, Rows keys, Rows values, int position, int tokens) {
    Layer layer = layers.get(cache);
    for (int i = 0; i < tokens; i++) {
      layer.keys().copy(position + i, keys, i);
      layer.values().copy(position + i, values, i);
    }
  }

  @Override
  public void attention(
      Rows queries, KeyValues cache, int position, AttentionRule rule, Rows out, int tokens) {
    Layer layer = layers.get(cache);
    if (position > 0 || tokens == 1 || !where.test(layer.index())) {
      super.attention(queries, cache, position, rule, out, tokens);
      return;
    }
    if (rule.softCap() != 0 || (rule.window() != 0 && rule.window() < tokens)) {
      throw new IllegalArgumentException(
          "a variant can't take the place of attention with a soft cap or a sliding window, as this"
              + " model's is");
    }
    try (Arena arena = Arena.ofShared()) {
      attend(arena, layer, queries, rule, out, tokens);
    }
  }

  private void attend(
      Arena arena, Layer layer, Rows queries, AttentionRule rule, Rows out, int tokens) {
    int heads = queries.width() / layer.shape().dimension();
    AttentionShape shape =
        new AttentionShape(
            1, tokens, heads, layer.shape().heads(), layer.shape().dimension(), rule.causal());
    Rows asked = Rows.allocate(arena, tokens, queries.width());
    float factor = rule.scale() / shape.scale();
    for (int row = 0; row < tokens; row++) {
      asked.copy(row, queries, row);
    }
    if (factor != 1) {
      super.scale(asked, factor, tokens);
    }
    AttentionInputs inputs =
        new AttentionInputs(
            shape,
            DataType.F32,
            asked.data(),
            first(layer.keys(), tokens),
            first(layer.values(), tokens));
    AttentionOutputs outputs = AttentionOutputs.allocate(arena, shape, DataType.F32);
    Counts before = workbench.counts();
    try (Plan plan = variant.plan(inputs, workbench)) {
      plan.run(outputs);
      observer.attended(layer.index(), inputs, plan, workbench.counts().since(before));
    }
    Rows results = new Rows(outputs.out(), out.width(), out.width());
    for (int row = 0; row < tokens; row++) {
      out.copy(row, results, row);
    }
  }

  private static MemorySegment first(Rows rows, int tokens) {
    return rows.data().asSlice(0, (long) tokens * rows.width() * ValueLayout.JAVA_FLOAT.byteSize());
  }

  /** Sequence by sequence. */
  @Override
  public void attention(
      Rows queries, List<? extends CachedSpan> spans, AttentionRule rule, Rows out) {
    int row = 0;
    for (CachedSpan span : spans) {
      attention(
          queries.from(row),
          span.keyValues(),
          span.queriesFrom(),
          rule,
          out.from(row),
          span.tokens());
      row += span.tokens();
    }
  }

  @Override
  public void close() {
    workbench.close();
    super.close();
  }
}
