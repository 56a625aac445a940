package io.steelyard.reports.terminal;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Locale;
import java.util.OptionalInt;

/**
 * What the C library knows of a file descriptor: {@code System.console()} speaks of standard input
 * and output together, while results and progress go to descriptors of their own.
 */
final class Tty {

  /** {@code TIOCGWINSZ}: fills a struct winsize, four unsigned shorts, rows and columns first. */
  private static final long WINDOW_SIZE_LINUX = 0x5413;

  private static final long WINDOW_SIZE_BSD = 0x40087468;

  private Tty() {}

  /** Whether the descriptor is a terminal; no where the platform can't be asked. */
  static boolean isTerminal(int descriptor) {
    try {
      MethodHandle isatty =
          handle("isatty", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
      return (int) isatty.invokeExact(descriptor) == 1;
    } catch (Throwable unknown) {
      // No such function (Windows), or native access is denied: plain output is always right.
      return false;
    }
  }

  /** Columns of the terminal behind the descriptor; empty where there is none or it won't say. */
  static OptionalInt columns(int descriptor) {
    String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
    long request = system.contains("linux") ? WINDOW_SIZE_LINUX : WINDOW_SIZE_BSD;
    try (Arena arena = Arena.ofConfined()) {
      MethodHandle ioctl =
          handle(
              "ioctl",
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT,
                  ValueLayout.JAVA_INT,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.ADDRESS),
              Linker.Option.firstVariadicArg(2));
      MemorySegment size = arena.allocate(ValueLayout.JAVA_SHORT, 4);
      int result = (int) ioctl.invokeExact(descriptor, request, size);
      int columns = Short.toUnsignedInt(size.getAtIndex(ValueLayout.JAVA_SHORT, 1));
      return result == 0 && columns > 0 ? OptionalInt.of(columns) : OptionalInt.empty();
    } catch (Throwable unknown) {
      return OptionalInt.empty();
    }
  }

  private static MethodHandle handle(
      String name, FunctionDescriptor type, Linker.Option... options) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), type, options);
  }
}
