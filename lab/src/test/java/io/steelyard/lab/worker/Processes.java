package io.steelyard.lab.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Waiting for other processes, bounded. */
final class Processes {
  /** No worker may outlive its coordinator by more than this. */
  static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** For what has no limit of its own: a machine under load starts a process slowly. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private Processes() {}

  static boolean ended(ProcessHandle process) {
    return ended(process.pid());
  }

  /** Whether a process ends within two seconds; one that only awaits its reaping has ended. */
  static boolean ended(long pid) {
    long deadline = System.nanoTime() + LIMIT_NANOS;
    while (runs(pid)) {
      if (System.nanoTime() > deadline) {
        return false;
      }
      LockSupport.parkNanos(1_000_000);
    }
    return true;
  }

  private static boolean runs(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
      char state = stat.charAt(stat.lastIndexOf(')') + 2);
      return state != 'Z' && state != 'X';
    } catch (IOException e) {
      return false;
    }
  }

  /** Waits until a file holds what a pattern finds; gives what it found. */
  static String awaitText(Path file, String pattern) {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (true) {
      try {
        Matcher matcher = Pattern.compile(pattern).matcher(Files.readString(file));
        if (matcher.find()) {
          return matcher.group();
        }
      } catch (NoSuchFileException _) {
        // Not yet.
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      if (System.nanoTime() > deadline) {
        throw new AssertionError(file + " never held " + pattern);
      }
      LockSupport.parkNanos(1_000_000);
    }
  }
}
