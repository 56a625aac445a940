package io.steelyard.kernels.machine;

/**
 * How operands of a matrix product are laid out: a panel of 32 rows, and a tile of a few tokens,
 * with {@code y[t][r] (+)= Σ panel[k][r] · tile[t][k]}. Lanes are rows, so nothing is ever summed
 * across lanes.
 *
 * <p>A <em>chunk</em> is what eight 4-byte steps along k cover: 32 values of a byte, 16 of bf16, 8
 * of float32. A panel holds, chunk by chunk, 8 steps × 32 rows × 4 bytes, then the chunk's
 * constants, each one for 32 rows. A tile holds, chunk by chunk, 32 bytes for each of its tokens,
 * then the chunk's constants.
 */
public enum Product {
  /**
   * Bytes: one scale for 32 values. A chunk's constants are {@code -128 · Σ weights} as int32 and
   * the scale; a tile's are scale and sum of each token. Activations are unsigned, 128 more than
   * their value.
   */
  BYTES(6, 1024 + 2 * 128),
  /** Bytes with an offset: the constants continue with what is added to every weight. */
  BYTES_OFFSET(6, 1024 + 3 * 128),
  /** Bytes with one scale for 16 values: constants of the first half, then of the second. */
  BYTES_HALVES(6, 1024 + 4 * 128),
  /** Pairs of bf16. */
  BF16(12, 1024),
  F32(12, 1024),
  /** A panel of float16, which halves it, with a tile of float32. */
  F16(12, 512);

  /** Rows of a panel: two registers. */
  public static final int ROWS = 32;

  /** Steps of a chunk. */
  public static final int STEPS = 8;

  /** Bytes of a token's values in a tile's chunk. */
  public static final int TOKEN_BYTES = 4 * STEPS;

  /** Places of a chunk's constants in a panel, and how far behind those of a second half are. */
  public static final int SUMS = 1024;

  public static final int SCALES = SUMS + 128;
  public static final int OFFSETS = SCALES + 128;
  public static final int SECOND_HALF = 256;

  private final int tokens;
  private final int panelChunk;

  Product(int tokens, int panelChunk) {
    this.tokens = tokens;
    this.panelChunk = panelChunk;
  }

  /** The most tokens of a tile; a tile has room for so many even where it has fewer. */
  public int tokens() {
    return tokens;
  }

  /** Bytes of a panel's chunk. */
  public int panelChunk() {
    return panelChunk;
  }

  /** Bytes of a tile's chunk. */
  public int tileChunk() {
    return isBytes() ? 256 : TOKEN_BYTES * tokens;
  }

  /** Values that a chunk covers along k. */
  public int chunkValues() {
    return switch (this) {
      case BYTES, BYTES_OFFSET, BYTES_HALVES -> 32;
      case BF16 -> 16;
      case F32, F16 -> 8;
    };
  }

  /** Whether weights and activations are bytes. */
  public boolean isBytes() {
    return this == BYTES || this == BYTES_OFFSET || this == BYTES_HALVES;
  }

  /** Place of a token's scale in a chunk of a tile of bytes. */
  public static int tileScale(int token) {
    return 6 * 32 + 4 * token;
  }

  public static int tileSum(int token) {
    return 6 * 32 + 32 + 4 * token;
  }
}
