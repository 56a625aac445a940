package io.steelyard.app;

import io.steelyard.models.catalogue.CacheDirectory;
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
    return CacheDirectory.of(System.getenv());
  }
}
