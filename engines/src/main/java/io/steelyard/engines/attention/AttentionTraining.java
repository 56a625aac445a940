package io.steelyard.engines.attention;

import io.steelyard.kernels.Tier;
import io.steelyard.kernels.attention.ScorerTraining;
import io.steelyard.kernels.attention.Variants;
import io.steelyard.lab.RunListener;
import io.steelyard.models.ModelException;
import java.nio.file.Path;
import java.util.List;

/** Trains a scorer of blocks on the queries and keys of a model that reads a text. */
public final class AttentionTraining {
  /**
   * What came of it.
   *
   * @param windows of the text that were read
   * @param pairs of blocks that were learned from
   * @param fit the weights
   */
  public record Result(int windows, long pairs, ScorerTraining.Result fit) {}

  private AttentionTraining() {}

  /**
   * Trains.
   *
   * @param tokens of a window
   * @param most windows, spread over the text
   * @param blocks sizes of blocks that the scorer is to know
   * @throws ModelException if the model can't be run
   * @throws IllegalArgumentException if the text holds no window, or the model's attention is none
   *     that variants take the place of
   */
  public static Result run(
      Path file,
      Tier tier,
      int threads,
      String text,
      int tokens,
      int most,
      List<Integer> blocks,
      RunListener listener) {
    try (VariantModel model = VariantModel.load(file, tier, threads, tokens)) {
      ScorerTraining training = new ScorerTraining();
      List<int[]> windows = Windows.cut(model, text, tokens, most).windows();
      int layers = model.model().config().layers();
      for (int i = 0; i < windows.size(); i++) {
        int window = i;
        model
            .kernels()
            .use(
                Variants.of("flash"),
                _ -> true,
                (layer, inputs, _, _) -> {
                  blocks.forEach(block -> training.add(inputs, block));
                  listener.progress(
                      "looking",
                      (window + (layer + 1.0) / layers) / windows.size(),
                      "window %d of %d, layer %d of %d"
                          .formatted(window + 1, windows.size(), layer + 1, layers));
                });
        model.session().truncate(0);
        model.session().advance(windows.get(i), 0, tokens);
      }
      listener.progress("fitting", 0, "%d pairs of blocks".formatted(training.pairs()));
      return new Result(windows.size(), training.pairs(), training.fit());
    }
  }
}
