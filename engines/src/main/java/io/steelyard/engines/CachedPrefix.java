package io.steelyard.engines;

import java.util.Arrays;

/**
 * What a KV cache holds of untimed tokens, so that they needn't be computed again for each call.
 *
 * <p>Numbers depend on how tokens were grouped into passes. A cache is filled in passes of equal
 * size from its start, so whole passes over the same tokens are kept and the rest is computed anew:
 * what follows is the same to the bit whatever came before.
 */
public final class CachedPrefix {
  private int[] ids = new int[0];

  /**
   * How many of the cached positions can stay.
   *
   * @param wanted begins with the ids that the cache is to hold
   * @param length how many of them
   * @param pass tokens in one pass, at least 1
   */
  public int reusable(int[] wanted, int length, int pass) {
    int different = Arrays.mismatch(ids, 0, ids.length, wanted, 0, length);
    return different < 0 ? length : different / pass * pass;
  }

  /** The cache now holds the first {@code length} ids, computed in passes of the same size. */
  public void set(int[] wanted, int length) {
    ids = Arrays.copyOf(wanted, length);
  }

  /** The cache holds nothing that could be kept. */
  public void clear() {
    ids = new int[0];
  }
}
