package io.steelyard.app;

import io.steelyard.engines.InstallException;
import io.steelyard.engines.InstalledEngine;
import io.steelyard.engines.llamacpp.LlamaCppInstaller;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.reports.terminal.ProgressBar;
import java.util.List;

/** Engines by name, and getting what they need from outside. */
final class Engines {
  static final String LLAMACPP = "llamacpp";

  private Engines() {}

  /** Checks that the engines exist, and installs what they need where it is not there yet. */
  static void prepare(List<String> specs, Console console)
      throws EngineException, InstallException, InterruptedException {
    EngineRegistry registry = EngineRegistry.system();
    for (String text : specs) {
      EngineSpec spec = StudyOptions.parse(text);
      try {
        var _ = registry.command(spec);
      } catch (EngineException e) {
        throw new UsageException(e.getMessage());
      }
      if (spec.name().equals(LLAMACPP)) {
        installLlamaCpp(console);
      }
    }
  }

  /** Installs llama.cpp's libraries unless they are there. */
  static InstalledEngine installLlamaCpp(Console console)
      throws InstallException, InterruptedException {
    LlamaCppInstaller installer = LlamaCppInstaller.ofEnvironment();
    InstalledEngine status = installer.status();
    if (status.directory().isPresent()) {
      return status;
    }
    try (InstallBar bar = new InstallBar(console)) {
      return installer.install(bar::report);
    }
  }

  /** One bar a step. */
  private static final class InstallBar implements AutoCloseable {
    private final Console console;
    private String step = "";
    private ProgressBar bar;

    InstallBar(Console console) {
      this.console = console;
    }

    void report(String name, long done, long total) {
      if (!name.equals(step)) {
        close();
        step = name;
        bar = console.bar(name, total, ProgressBar.Unit.BYTES);
      }
      bar.update(done);
    }

    @Override
    public void close() {
      if (bar != null) {
        bar.close();
      }
    }
  }
}
