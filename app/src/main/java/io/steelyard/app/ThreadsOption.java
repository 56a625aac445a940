package io.steelyard.app;

import picocli.CommandLine.Option;

/** The option {@code --threads} of commands that run outside of a study. */
final class ThreadsOption {
  private static final int MOST = 1024;

  @Option(
      names = {"-t", "--threads"},
      paramLabel = "N",
      defaultValue = "0",
      description = "compute threads; 0: all processors")
  private int threads;

  /** How many were asked for. */
  int count() {
    StudyOptions.between("--threads", threads, 0, MOST);
    return threads == 0 ? Runtime.getRuntime().availableProcessors() : threads;
  }
}
