package io.steelyard.models.tokenizer;

/** What a token is for, as {@code tokenizer.ggml.token_type} numbers it. */
public enum TokenType {
  /** Not said. */
  UNDEFINED(0),
  /** Ordinary text. */
  NORMAL(1),
  /** Stands for text that the vocabulary can't spell. */
  UNKNOWN(2),
  /** Steers the model ({@code <|im_start|>}); ordinary text never becomes one. */
  CONTROL(3),
  /** Added to the vocabulary as a whole; always matched in text. */
  USER_DEFINED(4),
  /** A place kept free. */
  UNUSED(5),
  /** One byte of a character that has no token of its own. */
  BYTE(6);

  private static final TokenType[] BY_NUMBER = values();

  private final int number;

  TokenType(int number) {
    this.number = number;
  }

  /** The type's number in a file. */
  public int number() {
    return number;
  }

  /** The type that a file means by a number; {@link #UNDEFINED} for one that means none. */
  public static TokenType of(int number) {
    return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : UNDEFINED;
  }
}
