package io.steelyard.kernels.avx2;

import io.steelyard.kernels.DataType;

/**
 * Q5_0 and Q5_1: blocks as those of Q4_0 and Q4_1, with a word of 32 bits before the nibbles that
 * has each value's fifth bit, in order of the values.
 *
 * <p>Where a lane of 32 bits has the word moved down by a multiple of four, four bytes become
 * copies of its lowest, each keeps a bit of its own, and a table turns the bit into 16.
 */
public final class FifthBits {
  /** Bytes of a lane: copies of its lowest, of two lanes. */
  public static final long COPIES = 0x0404_0404_0000_0000L;

  /** The same of two more lanes. */
  public static final long MORE_COPIES = 0x0C0C_0C0C_0808_0808L;

  /** A bit of its own for each byte of a lane. */
  public static final int OWN = 0x0804_0201;

  /** What bits of 1, 2, 4 and 8 become: 16. The lower and the upper eight bytes of the table. */
  public static final long TABLE = 0x0000_0010_0010_1000L;

  public static final long MORE_TABLE = 0x0000_0000_0000_0010L;

  private FifthBits() {}

  /** Whether a type's blocks have such a word. */
  public static boolean has(DataType type) {
    return switch (type) {
      case Q5_0, Q5_1 -> true;
      default -> false;
    };
  }

  /** Where a block has the word. */
  public static int place(DataType type) {
    return type.blockBytes() - 20;
  }

  /** What values are too large by, where a block has no minimum. */
  public static int excess(DataType type) {
    return type == DataType.Q5_0 ? 16 : 8;
  }
}
