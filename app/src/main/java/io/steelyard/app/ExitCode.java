package io.steelyard.app;

/** What the process's exit status means. */
final class ExitCode {
  static final int FINE = 0;
  static final int FAILED = 1;
  static final int USAGE = 2;
  static final int REGRESSION = 3;
  static final int INCONCLUSIVE = 4;
  static final int PARITY = 5;

  private ExitCode() {}
}
