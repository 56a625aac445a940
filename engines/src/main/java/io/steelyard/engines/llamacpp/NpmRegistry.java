package io.steelyard.engines.llamacpp;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The npm registry that this user is set up for, so that the package can be fetched from it where
 * npm itself is missing: {@code npm_config_registry}, else what the user's {@code .npmrc} says for
 * the package's scope or for all. None is built in.
 */
final class NpmRegistry {
  private NpmRegistry() {}

  /**
   * The address of the package's tarball.
   *
   * @param environment {@code HOME} or {@code npm_config_userconfig} leads to {@code .npmrc}
   */
  static Optional<URI> tarball(Map<String, String> environment) throws IOException {
    String scope = LlamaCppRelease.PACKAGE.substring(0, LlamaCppRelease.PACKAGE.indexOf('/'));
    String name = LlamaCppRelease.PACKAGE.substring(scope.length() + 1);
    Map<String, String> file = userFile(environment);
    Optional<String> registry =
        Stream.of(
                file.getOrDefault(scope + ":registry", ""),
                variable(environment, "npm_config_registry"),
                file.getOrDefault("registry", ""))
            .map(value -> value.strip().replaceAll("^\"|\"$", ""))
            .filter(value -> value.startsWith("http:") || value.startsWith("https:"))
            .findFirst();
    if (registry.isEmpty()) {
      return Optional.empty();
    }
    String address =
        "%s/%s/-/%s-%s.tgz"
            .formatted(
                registry.get().replaceFirst("/+$", ""),
                LlamaCppRelease.PACKAGE,
                name,
                LlamaCppRelease.PACKAGE_VERSION);
    try {
      return Optional.of(URI.create(address));
    } catch (IllegalArgumentException e) {
      throw new IOException("npm's registry is no address: " + registry.get(), e);
    }
  }

  private static Map<String, String> userFile(Map<String, String> environment) throws IOException {
    String named = variable(environment, "npm_config_userconfig");
    String home = environment.getOrDefault("HOME", System.getProperty("user.home"));
    Path file = named.isEmpty() ? Path.of(home, ".npmrc") : Path.of(named);
    Map<String, String> settings = new HashMap<>();
    if (Files.isReadable(file)) {
      for (String line : Files.readAllLines(file)) {
        int equals = line.indexOf('=');
        if (equals > 0) {
          settings.put(line.substring(0, equals).strip(), line.substring(equals + 1).strip());
        }
      }
    }
    return settings;
  }

  private static String variable(Map<String, String> environment, String name) {
    return environment.entrySet().stream()
        .filter(variable -> variable.getKey().equalsIgnoreCase(name))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElse("");
  }
}
