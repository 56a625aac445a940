package io.steelyard.reports.terminal;

/**
 * What the place that text goes to can show.
 *
 * @param width columns that a line may fill, at least {@value #NARROWEST}
 * @param colour whether escape sequences colour the text
 * @param unicode whether characters beyond ASCII can be shown
 */
public record Style(int width, boolean colour, boolean unicode) {

  /** The narrowest width that tables are laid out for; a narrower terminal wraps by itself. */
  public static final int NARROWEST = 40;

  /** 100 columns of Unicode without colour: what goes into a file. */
  public static final Style FILE = new Style(100, false, true);

  public Style {
    width = Math.max(NARROWEST, width);
  }

  /** The text in its tone: surrounded by escape sequences if this style has colours. */
  public String paint(String text, Tone tone) {
    return !colour || tone == Tone.PLAIN || text.isEmpty()
        ? text
        : "\u001b[" + tone.code() + "m" + text + "\u001b[0m";
  }

  /**
   * The text as it can be shown here: control characters, which could move the cursor, become
   * {@code ?}; without Unicode, known signs are spelled in ASCII and everything else becomes {@code
   * ?}. To be called before widths are measured.
   */
  public String adapt(String text) {
    StringBuilder adapted = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> {
              if (Character.isISOControl(c)) {
                adapted.append('?');
              } else if (unicode || c < 0x80 || c == Table.NO_BREAK) {
                adapted.appendCodePoint(c);
              } else if (DisplayWidth.of(c) > 0) {
                adapted.append(ascii(c));
              }
            });
    return adapted.toString();
  }

  private static String ascii(int c) {
    return switch (c) {
      case '±' -> "+/-";
      case '×' -> "x";
      case '–', '—', '−', '─' -> "-";
      case '·' -> "|";
      case '…' -> "...";
      case '↳' -> "->";
      case 'µ', 'μ' -> "u";
      case 'Δ' -> "d";
      case '†' -> "^";
      case '‖' -> "||";
      case '≤' -> "<=";
      case '≥' -> ">=";
      default -> "?";
    };
  }
}
