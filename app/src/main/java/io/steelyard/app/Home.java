package io.steelyard.app;

import java.nio.file.Path;

/** Where Steelyard itself and its cache lie. */
final class Home {
  private Home() {}

  /** The checkout that this runs from: the launcher says so; else the working directory. */
  static Path path() {
    return Path.of(System.getProperty("steelyard.home", "")).toAbsolutePath();
  }

  /**
   * {@code STEELYARD_CACHE}, else {@code XDG_CACHE_HOME/steelyard}, else {@code
   * ~/.cache/steelyard}.
   */
  static Path cache() {
    String own = System.getenv("STEELYARD_CACHE");
    if (own != null && !own.isBlank()) {
      return Path.of(own);
    }
    String xdg = System.getenv("XDG_CACHE_HOME");
    return xdg != null && !xdg.isBlank()
        ? Path.of(xdg, "steelyard")
        : Path.of(System.getProperty("user.home"), ".cache", "steelyard");
  }
}
