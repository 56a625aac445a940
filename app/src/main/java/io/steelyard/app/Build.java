package io.steelyard.app;

import io.steelyard.lab.environment.Environment;
import java.util.Map;

/** The build that runs. */
final class Build {
  private Build() {}

  /** The commit that this checkout is at, shortened; {@code unknown} outside a checkout. */
  static String commit() {
    Object repository = Environment.read(Home.path()).get("repository");
    String commit =
        repository instanceof Map<?, ?> map && map.get("commit") instanceof String text ? text : "";
    return commit.isEmpty() ? "unknown" : commit.substring(0, 8);
  }
}
