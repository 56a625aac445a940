package io.steelyard.models.catalogue;

import java.util.Locale;

/** Whether a mistyped name may mean a known one. */
public final class NearMatch {
  private NearMatch() {}

  /** One contains the other, or a third of its letters at most has to change. */
  public static boolean isNear(String typed, String known) {
    String a = typed.toLowerCase(Locale.ROOT);
    String b = known.toLowerCase(Locale.ROOT);
    return (a.length() >= 3 && (b.contains(a) || a.contains(b)))
        || distance(a, b) <= Math.max(a.length(), b.length()) / 3;
  }

  /** Levenshtein's edit distance. */
  private static int distance(String a, String b) {
    int[] previous = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      previous[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] current = new int[b.length() + 1];
      current[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int change = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        current[j] = Math.min(change, Math.min(previous[j], current[j - 1]) + 1);
      }
      previous = current;
    }
    return previous[b.length()];
  }
}
