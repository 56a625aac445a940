package io.steelyard.models.catalogue;

/** Why a source couldn't give a file; the next source is tried. */
final class SourceFailure extends Exception {
  private static final long serialVersionUID = 1L;

  SourceFailure(String reason) {
    super(reason);
  }

  SourceFailure(String reason, Throwable cause) {
    super(reason, cause);
  }
}
