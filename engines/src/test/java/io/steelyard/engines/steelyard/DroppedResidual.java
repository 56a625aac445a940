package io.steelyard.engines.steelyard;

import io.steelyard.kernels.Activation;
import io.steelyard.kernels.AttentionRule;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.KeyValues;
import io.steelyard.kernels.Matrix;
import io.steelyard.kernels.Rope;
import io.steelyard.kernels.Rows;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.Tier;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Set;

/**
 * Kernels that forget the residual stream once a pass, after the first layer's feed-forward part.
 */
final class DroppedResidual implements Kernels {
  private static final int FIRST_FEED_FORWARD = 2;

  private final Kernels right;
  private int additions;

  DroppedResidual(Kernels right) {
    this.right = right;
  }

  @Override
  public void add(Rows x, Rows delta, int tokens) {
    if (++additions == FIRST_FEED_FORWARD) {
      for (int i = 0; i < tokens; i++) {
        x.row(i).copyFrom(delta.row(i));
      }
    } else {
      right.add(x, delta, tokens);
    }
  }

  @Override
  public void embed(Matrix table, int[] ids, int from, int tokens, Rows out) {
    additions = 0; // a pass begins
    right.embed(table, ids, from, tokens, out);
  }

  @Override
  public Tier tier() {
    return right.tier();
  }

  @Override
  public String description() {
    return right.description();
  }

  @Override
  public String activations(Set<DataType> weights) {
    return right.activations(weights);
  }

  @Override
  public int threads() {
    return right.threads();
  }

  @Override
  public int fewTokens() {
    return right.fewTokens();
  }

  @Override
  public long scratchBytes() {
    return right.scratchBytes();
  }

  @Override
  public Matrix prepare(List<Tensor> parts, Arena arena) {
    return right.prepare(parts, arena);
  }

  @Override
  public void matmul(Matrix weights, Rows x, Rows y, int tokens) {
    right.matmul(weights, x, y, tokens);
  }

  @Override
  public void rmsNorm(Rows x, Rows weight, float epsilon, Rows y, int tokens) {
    right.rmsNorm(x, weight, epsilon, y, tokens);
  }

  @Override
  public void layerNorm(Rows x, Rows weight, float epsilon, Rows y, int tokens) {
    right.layerNorm(x, weight, epsilon, y, tokens);
  }

  @Override
  public void activate(Activation activation, Rows x, int tokens) {
    right.activate(activation, x, tokens);
  }

  @Override
  public void addBias(Rows x, Rows bias, int tokens) {
    right.addBias(x, bias, tokens);
  }

  @Override
  public void scale(Rows x, float factor, int tokens) {
    right.scale(x, factor, tokens);
  }

  @Override
  public void softCap(Rows x, float cap, int tokens) {
    right.softCap(x, cap, tokens);
  }

  @Override
  public void rope(Rope rope, Rows angles, Rows x, int headDimension, int tokens) {
    right.rope(rope, angles, x, headDimension, tokens);
  }

  @Override
  public KeyValues keyValues(Arena arena, KeyValues.Shape shape) {
    return right.keyValues(arena, shape);
  }

  @Override
  public void store(KeyValues cache, Rows keys, Rows values, int position, int tokens) {
    right.store(cache, keys, values, position, tokens);
  }

  @Override
  public void attention(
      Rows queries, KeyValues cache, int position, AttentionRule rule, Rows out, int tokens) {
    right.attention(queries, cache, position, rule, out, tokens);
  }

  @Override
  public void gate(Activation activation, Rows gate, Rows up, Rows out, int tokens) {
    right.gate(activation, gate, up, out, tokens);
  }

  @Override
  public void multiply(Rows x, Rows by, int tokens) {
    right.multiply(x, by, tokens);
  }

  @Override
  public void close() {
    right.close();
  }
}
