package io.steelyard.models.architecture;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Rows;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.NearMatch;
import io.steelyard.models.cache.KeyValueCache;
import java.lang.foreign.Arena;
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

  /** The model's shape. */
  Config config();

  /** What was taken from the file. */
  Weights weights();

  /** Memory for passes of up to so many tokens. */
  Pass newPass(Arena arena, int batch);

  /** Memory for one pass, with the operations that run in it. */
  interface Pass {
    /**
     * Runs all layers over tokens that follow what the cache holds, and adds them to it.
     *
     * @param ids holds the tokens from index {@code from} on
     * @param observer told of each layer's output
     * @return the last layer's output, one row a token, valid until the next pass
     */
    default Rows forward(
        KeyValueCache cache, int[] ids, int from, int tokens, LayerObserver observer) {
      return forward(cache, cache.length(), ids, from, tokens, observer);
    }

    /**
     * Runs all layers over tokens whose keys and values take the place of those that the cache
     * holds at their positions; otherwise as above. Where tokens see later ones, they see all that
     * the cache then holds.
     *
     * @param position of the first token, at most the cache's length; that length where the
     *     architecture is causal
     */
    Rows forward(
        KeyValueCache cache, int position, int[] ids, int from, int tokens, LayerObserver observer);

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
