package io.steelyard.reports.terminal;

/** How a piece of text is meant; a colour where the terminal has colours, nothing elsewhere. */
public enum Tone {
  PLAIN(""),
  DIM("2"),
  BOLD("1"),
  GOOD("32"),
  BAD("31"),
  WARN("33"),
  INFO("36");

  private final String code;

  Tone(String code) {
    this.code = code;
  }

  /** The parameter of the SGR escape sequence (ECMA-48, 8.3.117); empty for plain text. */
  String code() {
    return code;
  }
}
