package io.steelyard.lab.worker;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Signals, the one call of the C library that the JDK has no method for. */
final class Posix {
  private static final int SIGKILL = 9;
  private static final int SIGCONT = 18;
  private static final int SIGSTOP = 19;

  private static final MethodHandle KILL =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("kill"),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

  private Posix() {}

  /** Kills every process of a group; does nothing where there is none left. */
  static void killGroup(long group) {
    signal(group, SIGKILL);
  }

  /** Stops every process of a group until {@link #resumeGroup}. */
  static void pauseGroup(long group) {
    signal(group, SIGSTOP);
  }

  /** Lets every process of a group go on. */
  static void resumeGroup(long group) {
    signal(group, SIGCONT);
  }

  private static void signal(long group, int signal) {
    if (group <= 1) {
      throw new IllegalArgumentException("not a worker's process group: " + group);
    }
    try {
      int _ = (int) KILL.invokeExact((int) -group, signal);
    } catch (Throwable e) {
      throw new IllegalStateException("kill can't be called", e);
    }
  }
}
