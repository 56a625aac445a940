package io.steelyard.models.architecture;

import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Rows;
import io.steelyard.models.architecture.FeedForward.Mixture;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Runs a mixture of experts: the router's scores choose each token's experts; then every expert
 * takes all of its tokens at once, and its results are added, weighted.
 */
final class MixturePass implements FeedForwardPass {
  /** Memory that the layers share. */
  private record Memory(
      Rows inner,
      Rows scores,
      Rows gathered,
      Rows results,
      int[] chosen,
      float[] weights,
      int[] taken) {}

  private final Kernels kernels;
  private final Mixture mixture;
  private final Memory memory;
  private final List<FeedForwardPass> experts;

  MixturePass(Kernels kernels, Mixture mixture, Rows inner, IntFunction<Rows> rows) {
    this(kernels, mixture, memory(mixture, inner, rows));
  }

  private MixturePass(Kernels kernels, Mixture mixture, Memory memory) {
    this.kernels = kernels;
    this.mixture = mixture;
    this.memory = memory;
    experts =
        mixture.experts().stream()
            .map(expert -> FeedForwardPass.gated(kernels, expert, memory.inner()))
            .toList();
  }

  /** The same for another layer of the same shape, in the same memory. */
  MixturePass of(Mixture other) {
    return new MixturePass(kernels, other, memory);
  }

  private static Memory memory(Mixture mixture, Rows inner, IntFunction<Rows> rows) {
    int hidden = mixture.router().columns();
    Rows scores = rows.apply(mixture.experts().size());
    int batch = (int) scores.count();
    return new Memory(
        inner,
        scores,
        rows.apply(hidden),
        rows.apply(hidden),
        new int[batch * mixture.used()],
        new float[batch * mixture.used()],
        new int[batch]);
  }

  @Override
  public void run(Rows x, Rows out, int tokens) {
    kernels.matmul(mixture.router(), x, memory.scores(), tokens);
    for (int token = 0; token < tokens; token++) {
      choose(token);
      out.clear(token);
    }
    for (int expert = 0; expert < experts.size(); expert++) {
      int count = gather(expert, x, tokens);
      if (count > 0) {
        experts.get(expert).run(memory.gathered(), memory.results(), count);
        scatter(expert, out, count);
      }
    }
  }

  /** The experts of the highest scores (ties: the lowest number), and their softmax. */
  private void choose(int token) {
    Rows scores = memory.scores();
    int from = token * mixture.used();
    for (int i = from; i < from + mixture.used(); i++) {
      int best = -1;
      for (int expert = 0; expert < experts.size(); expert++) {
        if (place(expert, from, i) < 0
            && (best < 0 || scores.get(token, expert) > scores.get(token, best))) {
          best = expert;
        }
      }
      memory.chosen()[i] = best;
    }
    double total = 0;
    float largest = scores.get(token, memory.chosen()[from]);
    for (int i = from; i < from + mixture.used(); i++) {
      double weight = Math.exp((double) scores.get(token, memory.chosen()[i]) - largest);
      memory.weights()[i] = (float) weight;
      total += weight;
    }
    for (int i = from; i < from + mixture.used(); i++) {
      memory.weights()[i] = (float) (memory.weights()[i] / total);
    }
  }

  /** Copies the rows of an expert's tokens together; the answer is how many there are. */
  private int gather(int expert, Rows x, int tokens) {
    int count = 0;
    for (int token = 0; token < tokens; token++) {
      if (place(expert, token) >= 0) {
        memory.gathered().copy(count, x, token);
        memory.taken()[count++] = token;
      }
    }
    return count;
  }

  private void scatter(int expert, Rows out, int count) {
    for (int i = 0; i < count; i++) {
      int token = memory.taken()[i];
      out.addScaled(token, memory.results(), i, memory.weights()[place(expert, token)]);
    }
  }

  /** Where in a token's choices an expert is; -1 where it isn't. */
  private int place(int expert, int token) {
    return place(expert, token * mixture.used(), (token + 1) * mixture.used());
  }

  private int place(int expert, int from, int to) {
    for (int i = from; i < to; i++) {
      if (memory.chosen()[i] == expert) {
        return i;
      }
    }
    return -1;
  }
}
