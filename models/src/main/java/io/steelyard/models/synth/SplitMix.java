package io.steelyard.models.synth;

/**
 * The random bits of one tensor: a function of the seed, the tensor's name and an index, so that
 * any of them can be had at any time, by any thread, with the same result.
 *
 * <p>They are SplitMix64's (Steele, Lea, Flood: "Fast splittable pseudorandom number generators",
 * 2014), run as a function of a counter.
 *
 * @param key where the tensor's counter begins
 */
record SplitMix(long key) {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  /** The bits of this tensor under this seed. */
  static SplitMix of(long seed, String tensor) {
    long key = mix(seed + GOLDEN);
    for (int i = 0; i < tensor.length(); i++) {
      key = mix(key + GOLDEN + tensor.charAt(i));
    }
    return new SplitMix(key);
  }

  /** The 64 bits of this index. */
  long at(long index) {
    return mix(key + index * GOLDEN);
  }

  private static long mix(long bits) {
    bits = (bits ^ (bits >>> 30)) * 0xBF58476D1CE4E5B9L;
    bits = (bits ^ (bits >>> 27)) * 0x94D049BB133111EBL;
    return bits ^ (bits >>> 31);
  }
}
