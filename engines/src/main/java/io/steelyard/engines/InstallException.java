package io.steelyard.engines;

/** An engine that could not be installed, in one message that says why and what to do. */
public final class InstallException extends Exception {
  private static final long serialVersionUID = 1L;

  public InstallException(String message) {
    super(message);
  }

  public InstallException(String message, Throwable cause) {
    super(message, cause);
  }
}
