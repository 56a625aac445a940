package io.steelyard.kernels.machine;

/**
 * How operands of a matrix product are laid out: a panel of 32 rows, and a tile of a few tokens,
 * with {@code y[t][r] (+)= Σ panel[k][r] · tile[t][k]}. Lanes are rows, so nothing is ever summed
 * across lanes.
 *
 * <p>A <em>chunk</em> is what a few 4-byte steps along k cover, one step a value of float32, two of
 * 16 bits or four bytes. A panel holds, chunk by chunk, steps × 32 rows × 4 bytes, then the chunk's
 * constants, each one for 32 rows. A tile holds, chunk by chunk, the steps of each of its tokens,
 * then the chunk's constants.
 */
public enum Product {
  /**
   * Bytes: one scale for 32 values. A chunk's constants are {@code -128 · Σ weights} as int32 and
   * the scale; a tile's are scale and sum of each token. Activations are unsigned, 128 more than
   * their value.
   */
  BYTES(6, 8, 1024 + 2 * 128),
  /** Bytes with an offset: the constants continue with what is added to every weight. */
  BYTES_OFFSET(6, 8, 1024 + 3 * 128),
  /** Bytes with one scale for 16 values: constants of the first half, then of the second. */
  BYTES_HALVES(6, 8, 1024 + 4 * 128),
  /**
   * Whole numbers of 16 bits: one scale for 32 values, a chunk's only constant; a tile's are as
   * those of bytes.
   */
  WORDS(6, 16, 2048 + 128),
  /**
   * Bytes that are weights of at most 5 bits, unsigned, so that four steps' products with signed
   * activations add up in 16 bits. A panel's constants are scale and offset. Of a tile every second
   * step's values have one scale, all others another, both whole multiples of the chunk's: its
   * constants are that scale, the sum and the two multipliers, as pairs of int16, of each token.
   */
  UNSIGNED(6, 8, 1024 + 2 * 128),
  /**
   * Bytes that are weights of 6 bits, 32 more than their value, so that two steps' products with
   * signed activations add up in 16 bits. A panel's constants are the scales of both halves. A
   * tile's are the scale of the first half's activations and 32 times the sum of its whole numbers,
   * as int32, then the second half's, of each token.
   */
  SIX_BITS(6, 8, 1024 + 2 * 128),
  /** Pairs of bf16. */
  BF16(12, 8, 1024),
  F32(12, 8, 1024),
  /** A panel of float16, which halves it, with a tile of float32. */
  F16(12, 8, 512);

  /** Rows of a panel: two registers. */
  public static final int ROWS = 32;

  /** Steps of a chunk of all but words. */
  public static final int STEPS = 8;

  /** Place of the constants in a panel's chunk of bytes. */
  public static final int SUMS = 1024;

  private final int tokens;
  private final int steps;
  private final int panelChunk;

  Product(int tokens, int steps, int panelChunk) {
    this.tokens = tokens;
    this.steps = steps;
    this.panelChunk = panelChunk;
  }

  /** The most tokens of a tile; a tile has room for so many even where it has fewer. */
  public int tokens() {
    return tokens;
  }

  /** Steps of a chunk. */
  public int steps() {
    return steps;
  }

  /** Bytes of a token's values in a tile's chunk. */
  public int tokenBytes() {
    return 4 * steps;
  }

  /** Bytes of a panel's chunk. */
  public int panelChunk() {
    return panelChunk;
  }

  /** Bytes of a tile's chunk. */
  public int tileChunk() {
    return tokenBytes() * tokens
        + switch (this) {
          case SIX_BITS, UNSIGNED -> 128;
          default -> isInteger() ? 64 : 0;
        };
  }

  /** Values that a chunk covers along k. */
  public int chunkValues() {
    return switch (this) {
      case BYTES, BYTES_OFFSET, BYTES_HALVES, WORDS, UNSIGNED, SIX_BITS -> 32;
      case BF16 -> 16;
      case F32, F16 -> 8;
    };
  }

  /** Whether weights are signed bytes. */
  public boolean isBytes() {
    return this == BYTES || this == BYTES_OFFSET || this == BYTES_HALVES;
  }

  /** Whether weights and activations are whole numbers of 16 bits. */
  public boolean isWords() {
    return this == WORDS;
  }

  /** Whether weights and activations are whole numbers with scales. */
  public boolean isInteger() {
    return isBytes() || isWords() || this == UNSIGNED || this == SIX_BITS;
  }

  /** Whether something is added to every weight of a chunk. */
  public boolean hasOffset() {
    return this == BYTES_OFFSET || this == UNSIGNED;
  }

  /** Scales of a chunk: one, or one for each half. */
  public int runs() {
    return this == BYTES_HALVES || this == SIX_BITS ? 2 : 1;
  }

  /** The product whose tiles this one takes: all of bytes take the same. */
  public Product tile() {
    return isBytes() ? BYTES : this;
  }

  /** Places of a chunk's constants in a panel, and how far behind those of a second half are. */
  public int scales() {
    return isBytes() ? SUMS + 128 : 128 * steps;
  }

  public int offsets() {
    return scales() + 128;
  }

  public int secondHalf() {
    return isBytes() ? 256 : 128;
  }

  /** Place of a token's scale in a chunk of a tile of whole numbers. */
  public int tileScale(int token) {
    return tokenBytes() * tokens + 4 * token;
  }

  public int tileSum(int token) {
    return tileScale(token) + 32;
  }

  /** Place of what a token's sums of the first or second turn are multiplied by. */
  public int tileMultiplier(int turn, int token) {
    return tileScale(token) + 64 + 32 * turn;
  }

  /** Places of a token's second scale and sum, where it has them. */
  public int tileSecondScale(int token) {
    return tileScale(token) + 64;
  }

  public int tileSecondSum(int token) {
    return tileScale(token) + 96;
  }
}
