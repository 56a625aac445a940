package io.steelyard.history;

/**
 * A history that can't be read or written, or a file that can't be added to it, in one sentence
 * that says what, where and what to do.
 */
public final class HistoryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public HistoryException(String message) {
    super(message);
  }

  public HistoryException(String message, Throwable cause) {
    super(message, cause);
  }
}
