package io.steelyard.lab.run;

import java.io.IOException;
import java.nio.file.FileSystemException;
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

  static RunException unwritable(Path file, IOException e) {
    String reason =
        e instanceof FileSystemException f && f.getReason() != null
            ? f.getReason()
            : e.getMessage();
    return new RunException(
        "can't write "
            + file
            + " ("
            + reason
            + "): make room or choose another folder; nothing recorded is lost, and"
            + " './steelyard resume' goes on from there",
        e);
  }
}
