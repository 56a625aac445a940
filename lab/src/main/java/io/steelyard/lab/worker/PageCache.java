package io.steelyard.lab.worker;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * The operating system's cache of files (Linux). It needs no privileges, but a kernel need not
 * follow, so what is left is counted.
 *
 * <p>Source: posix_fadvise(2), mincore(2).
 */
public final class PageCache {
  private static final long PAGE = 4096;
  private static final int DONT_NEED = 4;
  private static final int READ_ONLY = 0;

  private static final MethodHandle OPEN =
      handle(
          "open",
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT),
          // The mode is a variadic argument that opening for reading doesn't have.
          Linker.Option.firstVariadicArg(2));

  private static final MethodHandle CLOSE =
      handle("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

  private static final MethodHandle ADVISE =
      handle(
          "posix_fadvise",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT));

  private static final MethodHandle IN_CORE =
      handle(
          "mincore",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.ADDRESS,
              ValueLayout.JAVA_LONG,
              ValueLayout.ADDRESS));

  private PageCache() {}

  private static MethodHandle handle(
      String name, FunctionDescriptor type, Linker.Option... options) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type, options);
  }

  /**
   * Drops a file, or the files of a folder, from the cache. Pages that a process has mapped stay.
   *
   * @return the share of their pages that is still cached
   * @throws IOException if one can't be read
   */
  public static double drop(Path path) throws IOException {
    long pages = 0;
    long left = 0;
    for (Path file : files(path)) {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        // A page that is still to be written can't be dropped.
        channel.force(false);
      }
      advise(file);
      long size = Files.size(file);
      pages += Math.ceilDiv(size, PAGE);
      left += size == 0 ? 0 : cached(file);
    }
    return pages == 0 ? 0 : (double) left / pages;
  }

  private static List<Path> files(Path path) throws IOException {
    if (!Files.isDirectory(path)) {
      return List.of(path);
    }
    try (Stream<Path> files = Files.list(path)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  private static void advise(Path file) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      int descriptor = (int) OPEN.invokeExact(arena.allocateFrom(file.toString()), READ_ONLY);
      if (descriptor < 0) {
        throw new IOException(file + " can't be opened");
      }
      int _ = (int) ADVISE.invokeExact(descriptor, 0L, 0L, DONT_NEED);
      int _ = (int) CLOSE.invokeExact(descriptor);
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("posix_fadvise can't be called", e);
    }
  }

  /** Pages of a file that are cached; all of them where the kernel doesn't tell. */
  private static long cached(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
        Arena arena = Arena.ofConfined()) {
      MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
      long pages = Math.ceilDiv(channel.size(), PAGE);
      MemorySegment states = arena.allocate(pages);
      if ((int) IN_CORE.invokeExact(mapped, mapped.byteSize(), states) != 0) {
        return pages;
      }
      long count = 0;
      for (long page = 0; page < pages; page++) {
        count += states.get(ValueLayout.JAVA_BYTE, page) & 1;
      }
      return count;
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("mincore can't be called", e);
    }
  }
}
