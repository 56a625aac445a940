package io.steelyard.models;

/**
 * A name, path, shape or type that stands for nothing here: the caller's mistake, not the file's.
 */
public final class UnknownNameException extends ModelException {
  private static final long serialVersionUID = 1L;

  public UnknownNameException(String message) {
    super(message);
  }
}
