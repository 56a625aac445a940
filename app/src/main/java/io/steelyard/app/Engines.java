package io.steelyard.app;

import io.steelyard.engines.InstallException;
import io.steelyard.engines.InstalledEngine;
import io.steelyard.engines.llamacpp.LlamaCppInstaller;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.reports.terminal.ProgressBar;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Engines by name, and getting what they need from outside. */
final class Engines {
  static final String LLAMACPP = "llamacpp";

  private Engines() {}

  /** Where llama.cpp's libraries lie, if a person said so; see {@link Main}. */
  static Optional<Path> llamaCppHome = Optional.empty();

  /**
   * Checks that the engines exist, and installs what they need where it is not there yet.
   *
   * @return the engines as they are to be started
   */
  static List<String> prepare(List<String> specs, Console console)
      throws InstallException, InterruptedException {
    EngineRegistry registry = EngineRegistry.system();
    List<String> prepared = new ArrayList<>();
    for (String text : specs) {
      EngineSpec spec = StudyOptions.parse(text);
      try {
        var _ = registry.command(spec);
      } catch (EngineException e) {
        throw new UsageException(e.getMessage());
      }
      boolean llamaCpp = spec.name().equals(LLAMACPP);
      if (llamaCpp) {
        installLlamaCpp(console);
      }
      prepared.add(llamaCpp && llamaCppHome.isPresent() ? atHome(spec, llamaCppHome.get()) : text);
    }
    return prepared;
  }

  /** The same engine and label, told where its libraries are; so a resumed run finds them again. */
  private static String atHome(EngineSpec spec, Path home) {
    if (home.toString().contains(",")) {
      throw new UsageException(
          "--llamacpp-home " + home + ": a path with a comma can't be passed on");
    }
    String variable = "env." + LlamaCppInstaller.HOME + "=" + home.toAbsolutePath();
    String label = spec.text().contains("label=") ? "" : ",label=" + spec.label().replace(',', ';');
    return spec.text() + (spec.text().contains(":") ? "," : ":") + variable + label;
  }

  /** Installs llama.cpp's libraries unless they are there. */
  static InstalledEngine installLlamaCpp(Console console)
      throws InstallException, InterruptedException {
    Map<String, String> environment = new HashMap<>(System.getenv());
    llamaCppHome.ifPresent(home -> environment.put(LlamaCppInstaller.HOME, home.toString()));
    LlamaCppInstaller installer = LlamaCppInstaller.of(environment);
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
