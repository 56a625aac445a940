package io.steelyard.lab.worker;

import java.util.Optional;

/** A worker that did not do what it was asked, in words that a user can act on. */
public final class WorkerException extends Exception {
  private static final long serialVersionUID = 1L;

  /** What went wrong. After anything but {@link #REFUSED} the worker is gone. */
  public enum Kind {
    /** The process could not be started. */
    NOT_STARTED,
    /** The process ended during the call, or had ended before. */
    DIED,
    /** No reply in time; the process group was killed. */
    TIMED_OUT,
    /** What came back is not the worker protocol; the process group was killed. */
    GARBAGE,
    /** The engine answered with an error; the worker goes on. */
    REFUSED
  }

  private final Kind kind;
  private final transient Optional<EngineException.Kind> refusal;

  WorkerException(Kind kind, String message) {
    super(message);
    this.kind = kind;
    this.refusal = Optional.empty();
  }

  WorkerException(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
    this.refusal = Optional.empty();
  }

  WorkerException(EngineException.Kind refusal, String message) {
    super(message);
    this.kind = Kind.REFUSED;
    this.refusal = Optional.of(refusal);
  }

  public Kind kind() {
    return kind;
  }

  /** The engine's own kind of error; present if and only if {@link #kind} is {@code REFUSED}. */
  public Optional<EngineException.Kind> refusal() {
    return refusal;
  }

  /** Whether the engine said that it does not have the call or option. */
  public boolean unsupported() {
    return refusal.equals(Optional.of(EngineException.Kind.UNSUPPORTED));
  }
}
