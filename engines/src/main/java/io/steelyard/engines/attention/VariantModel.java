package io.steelyard.engines.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.kernels.attention.MemoryPool;
import io.steelyard.kernels.attention.PatternCache;
import io.steelyard.kernels.attention.VariantKernels;
import io.steelyard.kernels.attention.Workbench;
import io.steelyard.models.Model;
import io.steelyard.models.Session;
import java.nio.file.Path;

/** A model whose attention can be a variant's, with one session in which a text is one pass. */
record VariantModel(VariantKernels kernels, Model model, Session session) implements AutoCloseable {
  private static final int PATTERNS = 1024;

  /**
   * Loads a model for texts of so many tokens.
   *
   * @throws IllegalArgumentException if it doesn't generate token by token
   */
  static VariantModel load(Path file, Tier tier, int threads, int tokens) {
    VariantKernels kernels =
        new VariantKernels(
            Kernels.of(tier, threads),
            new Workbench(tier, threads, MemoryPool.pooled(), new PatternCache(PATTERNS)));
    Model model = null;
    try {
      model = Model.load(file, kernels);
      if (!model.causal()) {
        throw new IllegalArgumentException(
            "%s fills in masks, and what follows a token is no question for it: take a model that generates token by token"
                .formatted(file));
      }
      return new VariantModel(kernels, model, model.newSession(tokens, DataType.F32, tokens));
    } catch (RuntimeException | Error e) {
      if (model != null) {
        model.close();
      }
      kernels.close();
      throw e;
    }
  }

  @Override
  public void close() {
    session.close();
    model.close();
    kernels.close();
  }
}
