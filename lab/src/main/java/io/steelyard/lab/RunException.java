package io.steelyard.lab;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** A run that can't begin or go on, in one sentence that says what, where and what to do. */
public final class RunException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public RunException(String message) {
    super(message);
  }

  public RunException(String message, Throwable cause) {
    super(message, cause);
  }

  /** A file of a run that has begun can't be written. */
  public static RunException unwritable(Path file, IOException e) {
    return new RunException(
        "can't write "
            + file
            + " ("
            + reason(e)
            + "): make room there; nothing recorded is lost, and './steelyard resume' goes on",
        e);
  }

  /** There is no run yet, and none can be made. */
  public static RunException unmakeable(Path folder, IOException e) {
    return new RunException(
        "can't make a run under "
            + folder
            + " ("
            + reason(e)
            + "): make room there or choose another folder with --runs",
        e);
  }

  /** What went wrong with a file, in words: the message of some exceptions is a bare path. */
  public static String reason(IOException e) {
    return switch (e) {
      case AccessDeniedException _ -> "permission denied";
      case NoSuchFileException _ -> "it does not exist";
      case FileAlreadyExistsException _ -> "a file is in its place";
      case FileSystemException f when f.getReason() != null -> f.getReason();
      default -> String.valueOf(e.getMessage());
    };
  }
}
