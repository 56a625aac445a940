package io.steelyard.engines.llamacpp;

import io.steelyard.engines.InstallException;
import io.steelyard.engines.InstallProgress;
import io.steelyard.engines.InstalledEngine;
import io.steelyard.models.FileFailure;
import io.steelyard.models.FileTree;
import io.steelyard.models.catalogue.CacheDirectory;
import java.io.IOException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Installs llama.cpp's libraries into the user's cache: {@code engines/llamacpp/3.22.1} in {@code
 * STEELYARD_CACHE}, {@code XDG_CACHE_HOME/steelyard} or {@code ~/.cache/steelyard}.
 *
 * <p>Whatever the source, each library must have its pinned checksum ({@link LlamaCppRelease}), and
 * the folder appears complete or not at all. A worker only loads; the coordinator installs before
 * it starts one.
 */
public final class LlamaCppInstaller {
  /** Environment variable that names a folder with the libraries, to be used instead. */
  public static final String HOME = "STEELYARD_LLAMACPP_HOME";

  /** Environment variable that names another address of an archive with the libraries. */
  public static final String ARCHIVE = "STEELYARD_LLAMACPP_ARCHIVE";

  private static final String INSTALL = "./steelyard engines install llamacpp";
  private static final String UNFINISHED = ".part-";

  /** File locks hold between processes; this holds between threads. */
  private static final Object THREADS = new Object();

  private final Map<String, String> environment;
  private final String platform;

  LlamaCppInstaller(Map<String, String> environment, String platform) {
    this.environment = Map.copyOf(environment);
    this.platform = platform;
  }

  /** An installer that follows this process's environment. */
  public static LlamaCppInstaller ofEnvironment() {
    return of(System.getenv());
  }

  /** An installer that follows these environment variables. */
  public static LlamaCppInstaller of(Map<String, String> environment) {
    return new LlamaCppInstaller(
        environment, System.getProperty("os.name") + " " + System.getProperty("os.arch"));
  }

  /** Whether the libraries are there and right, and if not, what to do. */
  public InstalledEngine status() {
    Optional<String> unfit = unfitPlatform();
    if (unfit.isPresent()) {
      return unusable(unfit.get());
    }
    String home = environment.getOrDefault(HOME, "");
    if (!home.isEmpty()) {
      return check(LibraryFiles.locate(Path.of(home)))
          .map(
              reason ->
                  unusable(
                      "%s; unset %s (--llamacpp-home) and run %s, or point it to the libraries of %s %s"
                          .formatted(
                              reason,
                              HOME,
                              INSTALL,
                              LlamaCppRelease.PACKAGE,
                              LlamaCppRelease.PACKAGE_VERSION)))
          .orElseGet(() -> usable(LibraryFiles.locate(Path.of(home))));
    }
    Path folder = folder();
    if (Files.notExists(folder)) {
      return unusable("llama.cpp is not installed; run " + INSTALL);
    }
    return check(folder)
        .map(reason -> unusable(reason + "; run " + INSTALL + " to install it anew"))
        .orElseGet(() -> usable(folder));
  }

  /**
   * Installs the libraries unless they are there.
   *
   * @param progress told of each step
   * @return what is installed then, always usable
   * @throws InstallException if no source could deliver them, naming each one's reason
   */
  public InstalledEngine install(InstallProgress progress)
      throws InstallException, InterruptedException {
    InstalledEngine before = status();
    if (before.directory().isPresent()) {
      return before;
    }
    if (unfitPlatform().isPresent() || !environment.getOrDefault(HOME, "").isEmpty()) {
      throw new InstallException(before.message());
    }
    Path parent = folder().getParent();
    synchronized (THREADS) {
      try {
        Files.createDirectories(parent);
        try (FileChannel channel =
                FileChannel.open(
                    parent.resolve(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock _ = lock(channel, progress)) {
          InstalledEngine meanwhile = status();
          return meanwhile.directory().isPresent() ? meanwhile : installLocked(progress);
        }
      } catch (IOException e) {
        throw new InstallException(
            "llama.cpp can't be installed into %s: %s".formatted(parent, advice(e)), e);
      }
    }
  }

  private InstalledEngine installLocked(InstallProgress progress)
      throws IOException, InstallException, InterruptedException {
    Path folder = folder();
    deleteUnfinished(folder.getParent());
    Path scratch = Files.createTempDirectory(folder.getParent(), UNFINISHED);
    try {
      Path libraries = Files.createDirectory(scratch.resolve("libraries"));
      fetch(scratch, libraries, progress);
      progress.report("installing into " + folder, 0, -1);
      if (Files.exists(folder)) {
        Files.move(folder, scratch.resolve("broken"), StandardCopyOption.ATOMIC_MOVE);
      }
      Files.move(libraries, folder, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      FileTree.delete(scratch);
    }
    InstalledEngine installed = status();
    if (installed.directory().isEmpty()) {
      throw new InstallException(installed.message());
    }
    return installed;
  }

  private void fetch(Path scratch, Path libraries, InstallProgress progress)
      throws IOException, InstallException, InterruptedException {
    List<String> failures = new ArrayList<>();
    for (ArchiveSource source : sources()) {
      try {
        Path archive = source.fetch(scratch, progress);
        progress.report("unpacking", 0, -1);
        LibraryArchive.extract(archive, libraries);
        LibraryFiles.verify(libraries);
        return;
      } catch (IOException e) {
        if (isLocal(e)) {
          throw e;
        }
        failures.add(source.name() + ": " + reason(e));
      }
    }
    throw new InstallException(
        ("llama.cpp %s could not be installed. %s. Install npm and run it again; or get %s %s"
                + " from npm on any machine, unpack it, and pass --llamacpp-home FOLDER; or go"
                + " without: --engine steelyard")
            .formatted(
                LlamaCppRelease.VERSION,
                String.join(". ", failures),
                LlamaCppRelease.PACKAGE,
                LlamaCppRelease.PACKAGE_VERSION));
  }

  /** The archive that the user names, else npm, else npm's registry without npm. */
  private List<ArchiveSource> sources() throws IOException {
    String mirror = environment.getOrDefault(ARCHIVE, "");
    if (!mirror.isEmpty()) {
      return List.of(new ArchiveSource.Download(URI.create(mirror), environment));
    }
    List<ArchiveSource> sources = new ArrayList<>(List.of(new ArchiveSource.Npm(environment)));
    NpmRegistry.tarball(environment)
        .ifPresent(address -> sources.add(new ArchiveSource.Download(address, environment)));
    return sources;
  }

  private Path folder() {
    return CacheDirectory.of(environment)
        .resolve("engines")
        .resolve("llamacpp")
        .resolve(LlamaCppRelease.PACKAGE_VERSION);
  }

  private Optional<String> unfitPlatform() {
    return platform.equals("Linux amd64")
        ? Optional.empty()
        : Optional.of(
            ("the pinned llama.cpp %s is built for Linux on x86-64 and this is %s; go without it:"
                    + " --engine steelyard")
                .formatted(LlamaCppRelease.VERSION, platform));
  }

  private static Optional<String> check(Path folder) {
    try {
      LibraryFiles.verify(folder);
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(reason(e));
    }
  }

  private static FileLock lock(FileChannel channel, InstallProgress progress) throws IOException {
    FileLock lock = channel.tryLock();
    if (lock == null) {
      progress.report("waiting for another process that installs llama.cpp", 0, -1);
      lock = channel.lock();
    }
    return lock;
  }

  /** Whether the trouble is this machine's disk, which no other source would cure. */
  private static boolean isLocal(IOException e) {
    return e instanceof FileSystemException
        || String.valueOf(e.getMessage()).contains("No space left");
  }

  private static String advice(IOException e) {
    String reason = reason(e);
    return reason.contains("No space left")
        ? reason + "; free 50 MB, or set STEELYARD_CACHE to a folder on another disk"
        : reason + "; set STEELYARD_CACHE to a folder that you can write to";
  }

  private static String reason(IOException e) {
    return e instanceof UnknownHostException
        ? "the host " + e.getMessage() + " is not known; is there a network?"
        : FileFailure.reason(e);
  }

  private static void deleteUnfinished(Path parent) throws IOException {
    try (Stream<Path> files = Files.list(parent)) {
      for (Path file : files.toList()) {
        if (file.getFileName().toString().startsWith(UNFINISHED)) {
          FileTree.delete(file);
        }
      }
    }
  }

  private static InstalledEngine usable(Path folder) {
    return new InstalledEngine(
        LlamaCppProvider.NAME,
        LlamaCppRelease.VERSION,
        Optional.of(folder),
        "llama.cpp " + LlamaCppRelease.VERSION + " in " + folder);
  }

  private static InstalledEngine unusable(String message) {
    return new InstalledEngine(
        LlamaCppProvider.NAME, LlamaCppRelease.VERSION, Optional.empty(), message);
  }
}
