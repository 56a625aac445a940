package io.steelyard.models;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Puts what went wrong with a file into words; the JDK's own messages are often a bare path. */
public final class FileFailure {
  private FileFailure() {}

  /** The reason alone: "permission denied", "No space left on device". */
  public static String reason(IOException e) {
    return switch (e) {
      case NoSuchFileException _ -> "there is no such file";
      case AccessDeniedException _ -> "permission denied";
      case FileSystemException f when f.getReason() != null -> f.getReason();
      default -> e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    };
  }
}
