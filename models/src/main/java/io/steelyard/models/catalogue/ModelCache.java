package io.steelyard.models.catalogue;

import io.steelyard.models.FileFailure;
import io.steelyard.models.ModelException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The directory that keeps models between runs.
 *
 * <p>Whoever writes a file there holds its lock. The operating system frees the lock of a process
 * that is killed, so what a holder finds half-written is nobody's but its own.
 */
final class ModelCache {
  /** File locks keep processes apart; these keep the threads of this one apart. */
  private static final Map<Path, ReentrantLock> THREAD_LOCKS = new ConcurrentHashMap<>();

  private final Path directory;

  ModelCache(Map<String, String> environment) {
    this.directory = CacheDirectory.of(environment);
  }

  Path directory() {
    return directory;
  }

  Path model(String fileName) {
    return directory.resolve("models").resolve(fileName);
  }

  Path checksums() {
    return directory.resolve("checksums");
  }

  /**
   * Does work on a file while no other process or thread does.
   *
   * @param file the file in this cache; its directory is made
   * @param listener is told when there is somebody to wait for
   * @param work what to do; it should look first whether another has done it
   * @throws ModelException if the cache can't be written
   */
  <T> T locked(Path file, ResolveListener listener, Supplier<T> work) {
    ReentrantLock threads = THREAD_LOCKS.computeIfAbsent(file, _ -> new ReentrantLock());
    if (!threads.tryLock()) {
      listener.note("another thread is preparing " + file.getFileName() + "; waiting for it");
      threads.lock();
    }
    try {
      Path lockFile = directory.resolve("locks").resolve(file.getFileName() + ".lock");
      try {
        Files.createDirectories(file.getParent());
        Files.createDirectories(lockFile.getParent());
      } catch (IOException e) {
        throw unwritable(e);
      }
      try (FileChannel channel =
              FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileLock lock = lock(channel, file, listener)) {
        if (!lock.isValid()) {
          throw new IOException("its lock was lost");
        }
        return work.get();
      } catch (IOException e) {
        throw unwritable(e);
      }
    } finally {
      threads.unlock();
    }
  }

  /** Deletes what killed runs have left beside a file; to be called by the holder of its lock. */
  void removeLeftovers(Path file) {
    String pattern = file.getFileName() + ".*.part";
    try (DirectoryStream<Path> leftovers = Files.newDirectoryStream(file.getParent(), pattern)) {
      for (Path leftover : leftovers) {
        Files.deleteIfExists(leftover);
      }
    } catch (IOException e) {
      throw unwritable(e);
    }
  }

  private static FileLock lock(FileChannel channel, Path file, ResolveListener listener)
      throws IOException {
    FileLock lock = channel.tryLock();
    if (lock != null) {
      return lock;
    }
    listener.note("another process is preparing " + file.getFileName() + "; waiting for it");
    return channel.lock();
  }

  private ModelException unwritable(IOException e) {
    return new ModelException(
        "the model cache %s can't be written: %s; set STEELYARD_CACHE to a directory that can, or give a local .gguf file"
            .formatted(directory, FileFailure.reason(e)),
        e);
  }
}
