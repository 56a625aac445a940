package io.steelyard.lab.worker;

/** A line that is not a message of the worker protocol; the message says what is wrong with it. */
final class WireException extends Exception {
  private static final long serialVersionUID = 1L;

  WireException(String message) {
    super(message);
  }
}
