package io.steelyard.models.tokenizer;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Turns tokens into text as they come. A character whose bytes are spread over several tokens is
 * held back until it is complete; bytes that can't become a character any more are U+FFFD.
 *
 * <p>For one thread.
 */
public final class StreamDecoder {
  private final Tokenizer tokenizer;
  private final boolean showControl;
  private byte[] pending = new byte[0];

  StreamDecoder(Tokenizer tokenizer, boolean showControl) {
    this.tokenizer = tokenizer;
    this.showControl = showControl;
  }

  /**
   * Takes the next token and returns the text that is complete by now, often that of this token,
   * sometimes none.
   *
   * @throws io.steelyard.models.ModelException if the vocabulary has no such id
   */
  public String push(int id) {
    TokenType type = tokenizer.type(id);
    boolean hidden = !showControl && (type == TokenType.CONTROL || type == TokenType.UNKNOWN);
    return hidden ? "" : push(tokenizer.sharedBytes(id));
  }

  String push(byte[] bytes) {
    byte[] all = bytes;
    if (pending.length > 0) {
      all = Arrays.copyOf(pending, pending.length + bytes.length);
      System.arraycopy(bytes, 0, all, pending.length, bytes.length);
    }
    int complete = all.length - Utf8.incompleteTail(all, all.length);
    pending = Arrays.copyOfRange(all, complete, all.length);
    return new String(all, 0, complete, StandardCharsets.UTF_8);
  }

  /** Ends the stream: what is still held back, incomplete as it is, as U+FFFD. */
  public String flush() {
    String rest = new String(pending, StandardCharsets.UTF_8);
    pending = new byte[0];
    return rest;
  }
}
