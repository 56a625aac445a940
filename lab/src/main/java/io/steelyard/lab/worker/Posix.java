package io.steelyard.lab.worker;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** The few calls of the C library that the JDK has no method for. */
final class Posix {
  static final int SIGKILL = 9;
  private static final int PR_SET_PDEATHSIG = 1;

  private Posix() {}

  /** Sends a signal to every process of a group; false where there is none left. */
  static boolean killGroup(long group, int signal) {
    if (group <= 1) {
      throw new IllegalArgumentException("not a worker's process group: " + group);
    }
    return invoke(
            handle("kill", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
            (int) -group,
            signal)
        == 0;
  }

  /** A new descriptor of the same file; negative on failure. */
  static int duplicate(int descriptor) {
    return invoke(handle("dup", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT), descriptor);
  }

  /** Makes {@code target} mean the file that {@code descriptor} means; negative on failure. */
  static int redirect(int descriptor, int target) {
    return invoke(
        handle("dup2", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
        descriptor,
        target);
  }

  /**
   * Asks the kernel to kill this process when the thread that started it ends (Linux). The caller
   * must then look whether its parent is still the one it expects, since the parent may have ended
   * before.
   */
  static boolean dieWithParent() {
    MethodHandle prctl =
        Linker.nativeLinker()
            .downcallHandle(
                Linker.nativeLinker().defaultLookup().findOrThrow("prctl"),
                FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG),
                Linker.Option.firstVariadicArg(1));
    try {
      return (int) prctl.invokeExact(PR_SET_PDEATHSIG, (long) SIGKILL) == 0;
    } catch (Throwable e) {
      throw new IllegalStateException("prctl can't be called", e);
    }
  }

  private static MethodHandle handle(
      String name, ValueLayout.OfInt result, ValueLayout.OfInt... parameters) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, parameters));
  }

  private static int invoke(MethodHandle handle, int argument) {
    try {
      return (int) handle.invokeExact(argument);
    } catch (Throwable e) {
      throw new IllegalStateException("a C function can't be called", e);
    }
  }

  private static int invoke(MethodHandle handle, int first, int second) {
    try {
      return (int) handle.invokeExact(first, second);
    } catch (Throwable e) {
      throw new IllegalStateException("a C function can't be called", e);
    }
  }
}
