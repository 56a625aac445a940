package io.steelyard.app;

import io.steelyard.history.HistoryStore;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Option;

/** Where the history is, for every command that works on it. */
final class HistoryPlace {
  @Option(
      names = "--history",
      paramLabel = "PLACE",
      description = {
        "a folder, or jdbc:postgresql:… of a database that several machines share",
        "  Default: STEELYARD_HISTORY, else ~/.local/share/steelyard"
      })
  String place;

  /** Opens it, making it where there is none. */
  HistoryStore open() {
    return HistoryStore.open(name());
  }

  /** A folder, or a database's URL. */
  String name() {
    return place == null ? usual(System.getenv()) : place;
  }

  /** {@code STEELYARD_HISTORY}, else a folder for data that is no cache. */
  static String usual(Map<String, String> environment) {
    String named = environment.getOrDefault("STEELYARD_HISTORY", "");
    if (!named.isEmpty()) {
      return named;
    }
    String data = environment.getOrDefault("XDG_DATA_HOME", "");
    Path folder =
        data.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".local", "share")
            : Path.of(data);
    return folder.resolve("steelyard").toString();
  }
}
