package io.steelyard.kernels.attention;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Patterns that were made before, the least recently used ones forgotten. Patterns are immutable
 * and may be shared. For any number of threads.
 */
public final class PatternCache {
  /** What a pattern is made of. */
  public record Key(String kind, int length, int segment, int rate, int offset) {}

  /** What a cache did. */
  public record Statistics(long hits, long misses, long evictions, int size) {}

  private final int capacity;
  private final Map<Key, Object> patterns = new LinkedHashMap<>(16, 0.75f, true);
  private long hits;
  private long misses;
  private long evictions;

  /**
   * An empty cache.
   *
   * @param capacity patterns; 0 keeps none, so that each is made every time
   */
  public PatternCache(int capacity) {
    if (capacity < 0) {
      throw new IllegalArgumentException("a cache can't hold " + capacity + " patterns");
    }
    this.capacity = capacity;
  }

  /** The pattern of a key, made if it isn't known. All patterns of a kind are of one type. */
  @SuppressWarnings("unchecked") // see above
  public <T> T get(Key key, Supplier<T> maker) {
    synchronized (this) {
      Object known = patterns.get(key);
      if (known != null) {
        hits++;
        return (T) known;
      }
      misses++;
    }
    // Outside of the lock: two threads may make the same, and one of the two is kept.
    T made = maker.get();
    synchronized (this) {
      Object other = patterns.get(key);
      if (other != null) {
        return (T) other;
      }
      if (capacity > 0) {
        patterns.put(key, made);
        if (patterns.size() > capacity) {
          patterns.remove(patterns.keySet().iterator().next());
          evictions++;
        }
      }
      return made;
    }
  }

  public synchronized Statistics statistics() {
    return new Statistics(hits, misses, evictions, patterns.size());
  }
}
