package io.steelyard.lab.worker;

import java.util.Locale;

/** A call that an engine could not serve, in one sentence that says what, where and what to do. */
public final class EngineException extends Exception {
  private static final long serialVersionUID = 1L;

  /** What kind of failure it is; on the wire in lower case. */
  public enum Kind {
    /** The engine does not have this call or option. */
    UNSUPPORTED,
    /** The request itself is wrong: ids out of range, a context too long. */
    BAD_REQUEST,
    /** The model file can't be used. */
    BAD_MODEL,
    /** Something the engine needs is not installed. */
    MISSING,
    /** Anything else. */
    FAILED;

    /** The spelling on the wire: {@code bad-request}. */
    public String wire() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Reads the spelling of the wire; anything unknown is a plain failure. */
    public static Kind ofWire(String text) {
      for (Kind kind : values()) {
        if (kind.wire().equals(text)) {
          return kind;
        }
      }
      return FAILED;
    }
  }

  private final Kind kind;

  public EngineException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  public EngineException(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  public static EngineException unsupported(String call) {
    return new EngineException(Kind.UNSUPPORTED, "this engine has no call '" + call + "'");
  }

  public Kind kind() {
    return kind;
  }
}
