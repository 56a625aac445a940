package io.steelyard.kernels;

import io.steelyard.kernels.amx.Amx;
import io.steelyard.kernels.avx2.Avx2;
import io.steelyard.kernels.avx512.Avx512;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Set;

/**
 * The operators of a transformer in one tier, run by its own team of threads.
 *
 * <p>Activations are float32 {@link Rows}, one row a token. Every operator returns when its result
 * is complete. An instance serves one caller at a time. Results depend on the operands and on the
 * class of call alone (few tokens, or many), never on the number of threads or their timing.
 *
 * <p>Sizes are checked when an operator is called; with no tokens it does nothing. Memory must stay
 * alive while it runs, and belong to an arena that all threads may use: a shared or the global one.
 */
public interface Kernels extends AutoCloseable {
  /** The JVM flag without which the vector tier is not {@link #available}. */
  String VECTOR_FLAG = VectorTier.FLAG;

  /**
   * The operators of a tier.
   *
   * @param threads compute threads, at least 1; the caller is one of them
   * @throws UnsupportedOperationException if this JVM can't run the tier; the message says why
   */
  static Kernels of(Tier tier, int threads) {
    return of(tier, threads, false);
  }

  /**
   * The operators of a tier.
   *
   * @param threads compute threads, at least 1; the caller is one of them
   * @param deterministic take the path of few tokens for any number of them, so that a token's
   *     result doesn't depend on how many are processed with it
   * @throws UnsupportedOperationException if this JVM can't run the tier; the message says why
   */
  static Kernels of(Tier tier, int threads, boolean deterministic) {
    return switch (tier) {
      case REFERENCE -> new ReferenceKernels(new ThreadTeam(threads));
      case VECTOR -> VectorTier.create(threads, deterministic);
      case AVX2, AVX512, AMX ->
          new MachineKernels(new ThreadTeam(threads), tier, MachineTier.code(tier), deterministic);
    };
  }

  /** Why a machine-code tier can't run here, in half a sentence. */
  static String obstacle(Tier tier) {
    return switch (tier) {
      case AVX2 -> Avx2.obstacle();
      case AMX -> Amx.obstacle();
      default -> Avx512.obstacle();
    };
  }

  /** Whether this processor and JVM can run a tier. */
  static boolean available(Tier tier) {
    return switch (tier) {
      case REFERENCE -> true;
      case VECTOR -> VectorTier.available();
      case AVX2 -> Avx2.available();
      case AVX512 -> Avx512.available();
      case AMX -> Amx.available();
    };
  }

  /** The fastest tier that this JVM can run. */
  static Tier best() {
    return ChosenTier.here().tier();
  }

  /** What {@link #description} of a tier's operators would be, without making them. */
  static String describe(Tier tier) {
    return switch (tier) {
      case REFERENCE -> ReferenceKernels.DESCRIPTION;
      case VECTOR -> VectorTier.description();
      case AVX2, AVX512, AMX -> MachineKernels.description(tier);
    };
  }

  /** The tier of these operators. */
  Tier tier();

  /** The tier and the variant that this processor gets, such as {@code vector 512-bit}. */
  String description();

  /**
   * How activations are rounded when they are multiplied with weights of these types: {@code f32}
   * for not at all.
   */
  String activations(Set<DataType> weights);

  /** Compute threads, the caller's among them. */
  int threads();

  /**
   * The most tokens of a pass whose results are, bit for bit, those of the same tokens one by one.
   */
  int fewTokens();

  /** Bytes of scratch memory held at present. */
  long scratchBytes();

  /**
   * Makes a matrix ready for {@link #matmul} and {@link #embed}. The tensors' memory must outlive
   * it.
   *
   * @param parts tensors of equal width, stacked in this order
   * @param arena owns what the tier writes of them, if it does; one that all threads may use
   */
  Matrix prepare(List<Tensor> parts, Arena arena);

  /** Makes a matrix ready that owns its memory. */
  default Matrix prepare(List<Tensor> parts) {
    return prepare(parts, Arena.ofAuto());
  }

  /** Makes a tensor ready for {@link #embed} alone, which every tier decodes from the file. */
  default Matrix prepareTable(Tensor tensor) {
    return StackedMatrix.of(List.of(tensor));
  }

  /**
   * Decodes rows of a matrix: row {@code ids[from + i]} becomes row i of {@code out}.
   *
   * @param out rows of {@code table.columns()} values
   */
  void embed(Matrix table, int[] ids, int from, int tokens, Rows out);

  /**
   * Multiplies: {@code y[t][r] = Σ x[t][c] · weights[r][c]}.
   *
   * @param x rows of {@code weights.columns()} values
   * @param y rows of {@code weights.rows()} values; must not overlap x
   * @param tokens rows of x; one for decoding, many for a prompt
   */
  void matmul(Matrix weights, Rows x, Rows y, int tokens);

  /**
   * Root-mean-square norm: {@code y = x / √(mean(x²) + epsilon) · weight}.
   *
   * @param x rows of one vector, or of several side by side, such as the heads of a query; each is
   *     normed by itself
   * @param weight one row as wide as a vector
   * @param y may be x
   */
  void rmsNorm(Rows x, Rows weight, float epsilon, Rows y, int tokens);

  /**
   * Layer norm without its bias: {@code y = (x − mean(x)) / √(variance(x) + epsilon) · weight}.
   *
   * @param weight one row of the same width
   * @param y may be x
   */
  void layerNorm(Rows x, Rows weight, float epsilon, Rows y, int tokens);

  /**
   * Turns every head of x in place.
   *
   * @param x rows of a multiple of {@code headDimension} values
   * @param angles as computed by {@link Rope#angles}
   */
  void rope(Rope rope, Rows angles, Rows x, int headDimension, int tokens);

  /** Allocates one layer's cache. */
  KeyValues keyValues(Arena arena, KeyValues.Shape shape);

  /**
   * Writes keys and values of consecutive positions into a cache. Those behind them are forgotten.
   *
   * @param keys rows of {@code shape.width()} values
   * @param position of the first token
   */
  void store(KeyValues cache, Rows keys, Rows values, int position, int tokens);

  /**
   * Writes keys and values of consecutive positions into a cache, and keeps those behind them;
   * otherwise as {@link #store}.
   *
   * @param end the position behind the last one that is kept
   */
  default void replace(KeyValues cache, Rows keys, Rows values, int position, int tokens, int end) {
    store(cache, keys, values, position, tokens);
  }

  /**
   * Writes keys and values of several sequences, whose rows follow one another, as {@link
   * #replace(KeyValues, Rows, Rows, int, int, int)} does for each.
   *
   * @param spans at least one; their caches have the same heads, dimension and type
   */
  default void replace(List<? extends CachedSpan> spans, Rows keys, Rows values) {
    Operands.spans(spans);
    int row = 0;
    for (int i = 0; i < spans.size(); i++) {
      CachedSpan span = spans.get(i);
      replace(
          span.keyValues(),
          keys.from(row),
          values.from(row),
          span.position(),
          span.tokens(),
          span.end());
      row += span.tokens();
    }
  }

  /**
   * Grouped-query attention: token i, at position {@code position + i}, attends to the cached
   * positions that the rule lets it see. Query head h uses key-value head {@code h / (heads /
   * kvHeads)}.
   *
   * @param queries rows of {@code heads × dimension} values
   * @param position of the first token; it and the following ones are already stored
   * @param out rows as wide as the queries; must not overlap them
   */
  void attention(
      Rows queries, KeyValues cache, int position, AttentionRule rule, Rows out, int tokens);

  /**
   * Attention of several sequences, each to its own cache, whose rows follow one another: what
   * {@link #attention(Rows, KeyValues, int, AttentionRule, Rows, int)} gives for each, bit for bit.
   *
   * @param spans at least one; their caches have the same heads, dimension and type
   */
  default void attention(
      Rows queries, List<? extends CachedSpan> spans, AttentionRule rule, Rows out) {
    Operands.spans(spans);
    int row = 0;
    for (int i = 0; i < spans.size(); i++) {
      CachedSpan span = spans.get(i);
      int tokens = span.tokens();
      attention(
          queries.from(row), span.keyValues(), span.queriesFrom(), rule, out.from(row), tokens);
      row += tokens;
    }
  }

  /** Gated activation: {@code out = activation(gate) · up}. {@code out} may be one of them. */
  void gate(Activation activation, Rows gate, Rows up, Rows out, int tokens);

  /** Activation in place: {@code x = activation(x)}. */
  void activate(Activation activation, Rows x, int tokens);

  /** Multiplies in place, value by value: {@code x = x · by}. */
  void multiply(Rows x, Rows by, int tokens);

  /** Adds in place: {@code x += delta}. */
  void add(Rows x, Rows delta, int tokens);

  /**
   * Adds the same to every row, in place.
   *
   * @param bias one row of the same width
   */
  void addBias(Rows x, Rows bias, int tokens);

  /** Multiplies in place: {@code x = x · factor}. */
  void scale(Rows x, float factor, int tokens);

  /** Caps in place: {@code x = cap · tanh(x / cap)}. */
  void softCap(Rows x, float cap, int tokens);

  /** Ends the threads and frees scratch memory. */
  @Override
  void close();
}
