package io.steelyard.kernels;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Set;

/** Operators that other operators compute, which are closed with these: for what changes a few. */
public abstract class ForwardingKernels implements Kernels {
  /** Those that compute. */
  protected final Kernels kernels;

  protected ForwardingKernels(Kernels kernels) {
    this.kernels = kernels;
  }

  @Override
  public String description() {
    return kernels.description();
  }

  @Override
  public Matrix prepare(List<Tensor> parts, Arena arena) {
    return kernels.prepare(parts, arena);
  }

  @Override
  public void embed(Matrix table, int[] ids, int from, int tokens, Rows out) {
    kernels.embed(table, ids, from, tokens, out);
  }

  @Override
  public void matmul(Matrix weights, Rows x, Rows y, int tokens) {
    kernels.matmul(weights, x, y, tokens);
  }

  @Override
  public void gate(Activation activation, Rows gate, Rows up, Rows out, int tokens) {
    kernels.gate(activation, gate, up, out, tokens);
  }

  @Override
  public Matrix prepareTable(Tensor tensor) {
    return kernels.prepareTable(tensor);
  }

  @Override
  public Tier tier() {
    return kernels.tier();
  }

  @Override
  public String activations(Set<DataType> weights) {
    return kernels.activations(weights);
  }

  @Override
  public int threads() {
    return kernels.threads();
  }

  @Override
  public int fewTokens() {
    return kernels.fewTokens();
  }

  @Override
  public long scratchBytes() {
    return kernels.scratchBytes();
  }

  @Override
  public void rmsNorm(Rows x, Rows weight, float epsilon, Rows y, int tokens) {
    kernels.rmsNorm(x, weight, epsilon, y, tokens);
  }

  @Override
  public void layerNorm(Rows x, Rows weight, float epsilon, Rows y, int tokens) {
    kernels.layerNorm(x, weight, epsilon, y, tokens);
  }

  @Override
  public void rope(Rope rope, Rows angles, Rows x, int headDimension, int tokens) {
    kernels.rope(rope, angles, x, headDimension, tokens);
  }

  @Override
  public KeyValues keyValues(Arena arena, KeyValues.Shape shape) {
    return kernels.keyValues(arena, shape);
  }

  @Override
  public void store(KeyValues cache, Rows keys, Rows values, int position, int tokens) {
    kernels.store(cache, keys, values, position, tokens);
  }

  @Override
  public void replace(KeyValues cache, Rows keys, Rows values, int position, int tokens, int end) {
    kernels.replace(cache, keys, values, position, tokens, end);
  }

  @Override
  public void replace(List<? extends CachedSpan> spans, Rows keys, Rows values) {
    kernels.replace(spans, keys, values);
  }

  @Override
  public void attention(
      Rows queries, KeyValues cache, int position, AttentionRule rule, Rows out, int tokens) {
    kernels.attention(queries, cache, position, rule, out, tokens);
  }

  @Override
  public void attention(
      Rows queries, List<? extends CachedSpan> spans, AttentionRule rule, Rows out) {
    kernels.attention(queries, spans, rule, out);
  }

  @Override
  public void activate(Activation activation, Rows x, int tokens) {
    kernels.activate(activation, x, tokens);
  }

  @Override
  public void multiply(Rows x, Rows by, int tokens) {
    kernels.multiply(x, by, tokens);
  }

  @Override
  public void add(Rows x, Rows delta, int tokens) {
    kernels.add(x, delta, tokens);
  }

  @Override
  public void addBias(Rows x, Rows bias, int tokens) {
    kernels.addBias(x, bias, tokens);
  }

  @Override
  public void scale(Rows x, float factor, int tokens) {
    kernels.scale(x, factor, tokens);
  }

  @Override
  public void softCap(Rows x, float cap, int tokens) {
    kernels.softCap(x, cap, tokens);
  }

  @Override
  public void close() {
    kernels.close();
  }
}
