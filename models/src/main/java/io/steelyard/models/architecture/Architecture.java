package io.steelyard.models.architecture;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Rows;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.NearMatch;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** A model family with its weights: the forward pass from token ids to logits. */
public interface Architecture {
  /** Names of the families that can be run. */
  static Set<String> supported() {
    return Families.all().keySet();
  }

  /**
   * Takes a model's weights out of its file, which must stay open while they are used.
   *
   * @param arena owns what has to be decoded
   * @throws ModelException if the family is unknown or the file doesn't hold what it needs
   */
  static Architecture load(ModelFile file, Kernels kernels, Arena arena) {
    String name = file.metadata().string("general.architecture");
    Function<Parts, Decoder> family = Families.all().get(name);
    if (family == null) {
      throw new ModelException(
          "%s has the architecture '%s', which isn't supported; nearest to it are %s of those that are: %s"
              .formatted(
                  file.path(),
                  printable(name),
                  String.join(", ", NearMatch.nearest(name, supported())),
                  String.join(", ", supported())));
    }
    return family.apply(new Parts(file, kernels, arena));
  }

  /** Whether no token sees a later one. */
  boolean causal();

  /**
   * Positions that the model was first trained for, if longer sequences are turned another way, all
   * of their positions; the largest number for most.
   */
  int firstContext();

  /** The model's shape. */
  Config config();

  /** What was taken from the file. */
  Weights weights();

  /** Memory for passes of up to so many tokens. */
  Pass newPass(Arena arena, int batch);

  /** Memory for one pass, with the operations that run in it. */
  interface Pass {
    /**
     * Runs all layers over tokens of one sequence or of several, and adds them to their caches.
     * Where tokens see later ones, they see all that their cache then holds.
     *
     * @param spans each of another sequence
     * @param ids the spans' tokens, one after another from index {@code from} on
     * @param observer told of each layer's output
     * @return the last layer's output, one row a token, valid until the next pass
     */
    Rows forward(List<Span> spans, int[] ids, int from, LayerObserver observer);

    /**
     * Computes logits.
     *
     * @param hidden rows that {@link #forward} returned, or some of them
     * @param out receives rows of {@code config().vocabulary()} values
     */
    void logits(Rows hidden, int tokens, Rows out);

    /**
     * What logits are made of: the last layer's output after the final norm.
     *
     * @param hidden rows that {@link #forward} returned, or some of them
     * @return as many rows, valid until the next call
     */
    Rows finalStates(Rows hidden, int tokens);

    /** Bytes of activations allocated. */
    long bytes();
  }

  /** Told of what each layer puts out. */
  @FunctionalInterface
  interface LayerObserver {
    LayerObserver NONE = (layer, output, tokens) -> {};

    /**
     * Takes an output; the rows are only valid during the call.
     *
     * @param layer 0 for the embedding, i + 1 for layer i
     */
    void output(int layer, Rows output, int tokens);
  }
}
