package io.steelyard.engines.llamacpp;

import io.steelyard.engines.InstallException;
import io.steelyard.engines.InstallProgress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** llama.cpp for tests: what the user has installed, or an installation of the build's own. */
final class Installed {
  private static Optional<LlamaCppInstaller> installer = Optional.empty();

  private Installed() {}

  /** An installer whose libraries are there; the test is skipped where they can't be had. */
  static synchronized LlamaCppInstaller installer() throws InterruptedException {
    if (installer.isEmpty()) {
      LlamaCppInstaller users = LlamaCppInstaller.ofEnvironment();
      if (users.status().directory().isPresent()) {
        installer = Optional.of(users);
      } else {
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.put("STEELYARD_CACHE", Path.of("target", "cache").toAbsolutePath().toString());
        environment.remove(LlamaCppInstaller.HOME);
        LlamaCppInstaller own = LlamaCppInstaller.of(environment);
        if (!System.getProperty("os.name").equals("Linux")
            || !System.getProperty("os.arch").equals("amd64")) {
          Assumptions.abort("not applicable here: " + own.status().message());
        }
        try {
          own.install(InstallProgress.NONE);
        } catch (InstallException e) {
          Assumptions.abort("llama.cpp can't be had: " + e.getMessage());
        }
        installer = Optional.of(own);
      }
    }
    return installer.get();
  }
}
