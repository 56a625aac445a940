package io.steelyard.lab.parity;

/** How alike two generated texts are, in tokens. */
final class TextSimilarity {
  private TextSimilarity() {}

  /**
   * 1 − edits ÷ length of the longer text; 1 of two empty ones. Edits are insertions, deletions and
   * replacements. Source: Levenshtein, "Binary codes capable of correcting deletions, insertions,
   * and reversals" (1966).
   */
  static double of(int[] a, int[] b) {
    int longer = Math.max(a.length, b.length);
    return longer == 0 ? 1 : 1 - (double) edits(a, b) / longer;
  }

  private static int edits(int[] a, int[] b) {
    int[] row = new int[b.length + 1];
    for (int j = 0; j <= b.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length; i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length; j++) {
        int replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length];
  }

  /** The share of tokens before the first that differs, of the longer text. */
  static double agreed(int[] a, int[] b) {
    int longer = Math.max(a.length, b.length);
    int same = 0;
    while (same < Math.min(a.length, b.length) && a[same] == b[same]) {
      same++;
    }
    return longer == 0 ? 1 : (double) same / longer;
  }
}
