package io.steelyard.models.tokenizer;

/** What a token is for, as {@code tokenizer.ggml.token_type} numbers it. */
public enum TokenType {
  /** Not said. */
  UNDEFINED,
  /** Ordinary text. */
  NORMAL,
  /** Stands for text that the vocabulary can't spell. */
  UNKNOWN,
  /** Steers the model ({@code <|im_start|>}); ordinary text never becomes one. */
  CONTROL,
  /** Added to the vocabulary as a whole; always matched in text. */
  USER_DEFINED,
  /** A place kept free. */
  UNUSED,
  /** One byte of a character that has no token of its own. */
  BYTE;

  private static final TokenType[] BY_NUMBER = values();

  static TokenType of(int number) {
    return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : UNDEFINED;
  }
}
