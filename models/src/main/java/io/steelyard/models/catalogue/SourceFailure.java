package io.steelyard.models.catalogue;

/** Why a source couldn't give a file; the next source is tried. */
final class SourceFailure extends Exception {
  private static final long serialVersionUID = 1L;

  private final boolean access;

  SourceFailure(String reason) {
    this(reason, false);
  }

  /**
   * A failure of which is known whether the source knows the file but not who asks.
   *
   * @param access whether it refused access
   */
  SourceFailure(String reason, boolean access) {
    super(reason);
    this.access = access;
  }

  SourceFailure(String reason, Throwable cause) {
    super(reason, cause);
    this.access = false;
  }

  /** Whether the source refused access, which a token may change. */
  boolean isRefusedAccess() {
    return access;
  }
}
