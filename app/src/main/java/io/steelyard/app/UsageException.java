package io.steelyard.app;

/** A command line that parses but makes no sense. */
final class UsageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UsageException(String message) {
    super(message);
  }
}
