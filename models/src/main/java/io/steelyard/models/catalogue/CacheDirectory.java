package io.steelyard.models.catalogue;

import java.nio.file.Path;
import java.util.Map;

/** Where everything that is kept between runs lies: models, results and engines' libraries. */
public final class CacheDirectory {
  private CacheDirectory() {}

  /**
   * {@code STEELYARD_CACHE}, else {@code XDG_CACHE_HOME/steelyard}, else {@code
   * ~/.cache/steelyard}; an absolute path, of a directory that need not exist.
   */
  public static Path of(Map<String, String> environment) {
    String own = environment.getOrDefault("STEELYARD_CACHE", "");
    if (!own.isBlank()) {
      return Path.of(own).toAbsolutePath();
    }
    String common = environment.getOrDefault("XDG_CACHE_HOME", "");
    if (!common.isBlank()) {
      return Path.of(common, "steelyard").toAbsolutePath();
    }
    String home = environment.getOrDefault("HOME", System.getProperty("user.home"));
    return Path.of(home, ".cache", "steelyard").toAbsolutePath();
  }
}
