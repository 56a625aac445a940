package io.steelyard.lab.record;

import io.steelyard.lab.RunException;
import io.steelyard.lab.study.Study;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import tools.jackson.core.JacksonException;

/**
 * One run on disk: {@code plan.json}, {@code environment.json}, {@code engines.json}, {@code
 * parity.json}, {@code trials.jsonl}, {@code summary.json}, the reports, and what the engines said
 * on stderr under {@code stderr/}. Held by one process at a time.
 */
public final class RunDirectory implements AutoCloseable {
  /** The file that says what the run was made on. */
  public static final String ENVIRONMENT = "environment.json";

  private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("yyyy-MM-dd_HHmmss");

  /** File systems allow 255 bytes; labels may be longer. */
  private static final int LONGEST_NAME = 150;

  private final Path path;
  private final FileChannel lockChannel;

  private RunDirectory(Path path, FileChannel lockChannel) {
    this.path = path;
    this.lockChannel = lockChannel;
  }

  /**
   * Makes a new run directory and writes its plan.
   *
   * @param parent usually {@code runs}
   * @throws RunException if it can't be written
   */
  public static RunDirectory create(Path parent, String title, Study study) {
    Path path = newFolder(parent, title);
    try {
      Files.createDirectory(path.resolve("stderr"));
      RunDirectory directory = lock(path);
      directory.write("plan.json", Json.pretty(study));
      return directory;
    } catch (IOException e) {
      throw RunException.unmakeable(parent, e);
    }
  }

  /**
   * Makes an empty folder, named by the time and a title.
   *
   * @param parent usually {@code runs}
   * @throws RunException if it can't be made
   */
  public static Path newFolder(Path parent, String title) {
    String name =
        STAMP.format(LocalDateTime.now(ZoneId.systemDefault()))
            + "-"
            + title.replaceAll("[^A-Za-z0-9._-]+", "-");
    try {
      Files.createDirectories(parent);
      Path path = parent.resolve(name);
      for (int n = 2; !createdNew(path); n++) {
        path = parent.resolve(name + "-" + n);
      }
      return path;
    } catch (IOException e) {
      throw RunException.unmakeable(parent, e);
    }
  }

  /**
   * Opens the directory of an earlier run.
   *
   * @param run its path, or its name under {@code parent}
   * @throws RunException if there is none, or another process is at it
   */
  public static RunDirectory open(Path parent, String run) {
    for (Path path : new Path[] {Path.of(run), parent.resolve(run)}) {
      if (Files.exists(path.resolve("plan.json"))) {
        try {
          return lock(path);
        } catch (IOException e) {
          throw RunException.unwritable(path, e);
        }
      }
    }
    throw new RunException(
        "there is no run '"
            + run
            + "' here or under "
            + parent
            + ": a run is a folder with a plan.json");
  }

  private static boolean createdNew(Path path) throws IOException {
    try {
      Files.createDirectory(path);
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    }
  }

  private static RunDirectory lock(Path path) throws IOException {
    FileChannel channel =
        FileChannel.open(path.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    FileLock lock;
    try {
      lock = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      lock = null;
    }
    if (lock == null) {
      channel.close();
      throw new RunException("another process is at work on " + path + ": wait for it or stop it");
    }
    return new RunDirectory(path, channel);
  }

  public Path path() {
    return path;
  }

  /** The run's name. */
  public String name() {
    return path.toAbsolutePath().normalize().getFileName().toString();
  }

  /** Where a cell's worker writes what it has to say. */
  public Path stderr(String cell) {
    String name = cell.replaceAll("[^A-Za-z0-9._-]+", "-");
    String file =
        name.length() <= LONGEST_NAME
            ? name
            : name.substring(0, LONGEST_NAME) + "-" + Integer.toHexString(cell.hashCode());
    return path.resolve("stderr").resolve(file + ".log");
  }

  public Path journalFile() {
    return path.resolve("trials.jsonl");
  }

  public Study plan() {
    return read("plan.json", Study.class);
  }

  public void writeEnvironment(Map<String, Object> environment) {
    write(ENVIRONMENT, Json.pretty(environment));
  }

  public void writeSummary(Summary summary) {
    write("summary.json", Json.pretty(summary));
  }

  /** Reads a JSON file of this directory. */
  public <T> T read(String file, Class<T> type) {
    try {
      return Json.read(Files.readString(path.resolve(file)), type);
    } catch (IOException | JacksonException e) {
      throw new RunException("can't read " + path.resolve(file) + ": " + e.getMessage(), e);
    }
  }

  /** Replaces a file as a whole: a reader sees the old text or the new one. */
  public void write(String file, String text) {
    Path target = path.resolve(file);
    try {
      Path temporary = path.resolve(file + ".part");
      Files.writeString(temporary, text);
      Files.move(
          temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw RunException.unwritable(target, e);
    }
  }

  @Override
  public void close() {
    try {
      lockChannel.close();
    } catch (IOException e) {
      throw RunException.unwritable(path, e);
    }
  }
}
