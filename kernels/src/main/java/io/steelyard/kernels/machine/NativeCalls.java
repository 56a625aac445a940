package io.steelyard.kernels.machine;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Calls of machine code. Everything is called in one shape, six {@code long}s to a {@code long}:
 * making a shape known costs start-up time, and the C calling convention lets a function ignore
 * arguments that it doesn't have.
 */
final class NativeCalls {
  private static final MethodHandle CALL =
      Linker.nativeLinker()
          .downcallHandle(
              FunctionDescriptor.of(
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_LONG));

  private NativeCalls() {}

  static long call(MemorySegment function, long a, long b, long c, long d, long e, long f) {
    try {
      return (long) CALL.invokeExact(function, a, b, c, d, e, f);
    } catch (RuntimeException | Error thrown) {
      throw thrown;
    } catch (Throwable thrown) {
      throw new AssertionError("a downcall threw a checked exception", thrown);
    }
  }

  /** A function of the C library. */
  static MemorySegment function(String name) {
    return Linker.nativeLinker()
        .defaultLookup()
        .find(name)
        .orElseThrow(() -> new UnsupportedOperationException("the C library has no " + name));
  }
}
