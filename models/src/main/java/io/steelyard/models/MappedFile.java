package io.steelyard.models;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.function.Function;

/**
 * A file of weights, mapped into memory and read only. The mapping follows the file on disk:
 * replacing the file by renaming another over it is harmless; cutting or overwriting it in place
 * while it is mapped isn't, and {@link #checkUnchanged} tells.
 */
public final class MappedFile implements AutoCloseable {
  private final Path path;
  private final BasicFileAttributes opened;
  private final Arena arena;
  private final MemorySegment data;

  private MappedFile(Path path, BasicFileAttributes opened, Arena arena, MemorySegment data) {
    this.path = path;
    this.opened = opened;
    this.arena = arena;
    this.data = data;
  }

  /**
   * Maps a whole file.
   *
   * @param advice what to give instead if this is no file, such as "give a .gguf model"
   * @throws ModelException if it can't be read
   */
  public static MappedFile open(Path path, String advice) {
    Arena arena = Arena.ofShared();
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
      if (!attributes.isRegularFile()) {
        throw new ModelException("%s is not a file; %s".formatted(path, advice));
      }
      MemorySegment data = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
      return new MappedFile(path, attributes, arena, data);
    } catch (IOException e) {
      arena.close();
      throw new ModelException(path + " can't be read: " + FileFailure.reason(e), e);
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  /** The file as it was given. */
  public Path path() {
    return path;
  }

  /** All bytes of the file. */
  public MemorySegment data() {
    return data;
  }

  /**
   * Reads something out of the file right after it was opened; a failure unmaps it.
   *
   * @throws ModelException what the reader throws, and if the file was cut meanwhile
   */
  public <T> T read(Function<MemorySegment, T> reader) {
    try {
      return reader.apply(data);
    } catch (InternalError e) {
      // How the JVM reports that a mapped page is gone.
      close();
      throw new ModelException(
          path + " was cut short while it was being read; start again when it is complete", e);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /**
   * Reads as {@link #read} does, by a mapping that is gone afterwards: what was read takes up no
   * memory any longer, and what is returned must not refer to it.
   */
  public <T> T readApart(Function<MemorySegment, T> reader) {
    try (MappedFile again = open(path, "give the model once more")) {
      if (!Objects.equals(again.opened.fileKey(), opened.fileKey())) {
        throw new ModelException(path + " was replaced while it was being opened; run again");
      }
      return again.read(reader);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /**
   * Makes sure that the file is still the one that was opened.
   *
   * @throws ModelException if it was overwritten, cut, or replaced
   */
  public void checkUnchanged() {
    try {
      BasicFileAttributes now = Files.readAttributes(path, BasicFileAttributes.class);
      if (now.size() != opened.size()
          || !now.lastModifiedTime().equals(opened.lastModifiedTime())) {
        throw new ModelException(path + " was changed while it was in use; run again");
      }
    } catch (IOException e) {
      throw new ModelException(
          path + " disappeared while it was in use: " + FileFailure.reason(e), e);
    }
  }

  /** Unmaps the file. */
  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }
}
