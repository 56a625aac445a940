package io.steelyard.models;

/**
 * A model that can't be found, read or run, in one sentence that says what, where and what to do.
 */
public sealed class ModelException extends RuntimeException permits UnknownNameException {
  private static final long serialVersionUID = 1L;

  public ModelException(String message) {
    super(message);
  }

  public ModelException(String message, Throwable cause) {
    super(message, cause);
  }
}
