package io.steelyard.models;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** What a name that nobody knows may mean. */
public final class NearMatch {
  private static final int MOST = 3;
  private static final int LONGEST = 64;

  private NearMatch() {}

  /** One contains the other, or a third of its letters at most has to change. */
  public static boolean isNear(String typed, String known) {
    String a = typed.toLowerCase(Locale.ROOT);
    String b = known.toLowerCase(Locale.ROOT);
    return (a.length() >= 3 && (b.contains(a) || a.contains(b)))
        || distance(a, b) <= Math.max(a.length(), b.length()) / 3;
  }

  /** Up to three known names, the nearest first; such as contain the name or lie in it lead. */
  public static List<String> nearest(String name, Collection<String> known) {
    String cut = name.length() > LONGEST ? name.substring(0, LONGEST) : name;
    String lower = cut.toLowerCase(Locale.ROOT);
    return known.stream()
        .sorted(
            Comparator.comparing(
                    (String each) -> {
                      String other = each.toLowerCase(Locale.ROOT);
                      return !(other.contains(lower) || lower.contains(other));
                    })
                .thenComparingInt(each -> distance(lower, each.toLowerCase(Locale.ROOT))))
        .limit(MOST)
        .toList();
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
