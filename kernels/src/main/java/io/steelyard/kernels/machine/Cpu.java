package io.steelyard.kernels.machine;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Mem;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * What this processor can do, asked of it by CPUID and XGETBV.
 *
 * <p>Source: Intel Software Developer's Manual, volume 2, CPUID; volume 1, chapter 13.
 */
public final class Cpu {
  /** Groups of instructions that kernels need. */
  public enum Feature {
    /** AVX2, FMA, F16C and BMI2. */
    AVX2,
    /** VNNI with AVX2's registers and encodings. */
    AVX_VNNI,
    /** AVX-512 F, BW, DQ and VL. */
    AVX512,
    AVX512_VNNI,
    AVX512_BF16,
    /** AMX tiles of bf16, which the system has let this process use. */
    AMX
  }

  private static final int VECTOR_STATE = 0b110;
  private static final int AVX512_STATE = 0b1110_0110;
  private static final int TILE_STATE = 0b11 << 17;
  private static final long REQUEST_PERMISSION = 0x1023;
  private static final long ARCH_PRCTL = 158;
  private static final long TILE_DATA = 18;

  /**
   * Asked once, on first use.
   *
   * @param obstacle why no machine code can run here; empty where it can
   */
  private record Detected(Set<Feature> features, String obstacle) {
    private static final Detected HERE = detect();
  }

  private Cpu() {}

  /** The features that processor and system offer together; none where machine code can't run. */
  public static Set<Feature> features() {
    return Detected.HERE.features();
  }

  /** Why no machine code of ours can run here, in half a sentence; empty where it can. */
  public static String obstacle() {
    return Detected.HERE.obstacle();
  }

  private static Detected detect() {
    String system = System.getProperty("os.name") + " on " + System.getProperty("os.arch");
    if (!system.equals("Linux on amd64")) {
      return new Detected(Set.of(), "it needs Linux on x86-64, and this is " + system);
    }
    try {
      return new Detected(ask(), "");
    } catch (UnsupportedOperationException e) {
      return new Detected(Set.of(), e.getMessage());
    }
  }

  private static Set<Feature> ask() {
    Function cpuid =
        Function.plain(
            a -> {
              a.push(Gpr.RBX);
              a.mov(Gpr.R8, Gpr.RDX);
              a.mov(Gpr.RAX, Gpr.RDI);
              a.mov(Gpr.RCX, Gpr.RSI);
              a.cpuid();
              a.mov32(Mem.at(Gpr.R8), Gpr.RAX);
              a.mov32(Mem.at(Gpr.R8, 4), Gpr.RBX);
              a.mov32(Mem.at(Gpr.R8, 8), Gpr.RCX);
              a.mov32(Mem.at(Gpr.R8, 12), Gpr.RDX);
              a.pop(Gpr.RBX);
            });
    Set<Feature> features = EnumSet.noneOf(Feature.class);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(16);
      int leaves = ask(cpuid, 0, 0, out)[0];
      int[] one = ask(cpuid, 1, 0, out);
      boolean savesState = bit(one[2], 27) && bit(one[2], 28);
      if (leaves >= 7 && savesState) {
        int state = (int) Function.plain(Cpu::xgetbv).call(0, 0, 0, 0);
        int[] seven = ask(cpuid, 7, 0, out);
        int[] sevenOne = seven[0] >= 1 ? ask(cpuid, 7, 1, out) : new int[4];
        find(features, one, seven, sevenOne, state);
      }
    }
    return Collections.unmodifiableSet(features);
  }

  private static void xgetbv(Assembler a) {
    a.xor(Gpr.RCX, Gpr.RCX);
    a.xgetbv();
  }

  private static void find(
      Set<Feature> features, int[] one, int[] seven, int[] sevenOne, int state) {
    boolean fma = bit(one[2], 12) && bit(one[2], 29);
    boolean narrow = fma && bit(seven[1], 5) && bit(seven[1], 8);
    if (!narrow || (state & VECTOR_STATE) != VECTOR_STATE) {
      return;
    }
    features.add(Feature.AVX2);
    if (bit(sevenOne[0], 4)) {
      features.add(Feature.AVX_VNNI);
    }
    boolean wide = bit(seven[1], 16) && bit(seven[1], 17) && bit(seven[1], 30) && bit(seven[1], 31);
    if (!wide || (state & AVX512_STATE) != AVX512_STATE) {
      return;
    }
    features.add(Feature.AVX512);
    if (bit(seven[2], 11)) {
      features.add(Feature.AVX512_VNNI);
    }
    if (bit(sevenOne[0], 5)) {
      features.add(Feature.AVX512_BF16);
    }
    boolean tiles = bit(seven[3], 22) && bit(seven[3], 24);
    if (tiles && (state & TILE_STATE) == TILE_STATE && tilesAreGranted()) {
      features.add(Feature.AMX);
    }
  }

  /** The system gives tile registers to a process that asks, once. */
  private static boolean tilesAreGranted() {
    return NativeCalls.call(
            NativeCalls.function("syscall"), ARCH_PRCTL, REQUEST_PERMISSION, TILE_DATA, 0, 0, 0)
        == 0;
  }

  private static int[] ask(Function cpuid, int leaf, int sub, MemorySegment out) {
    cpuid.call(leaf, sub, out.address(), 0);
    return out.toArray(ValueLayout.JAVA_INT);
  }

  private static boolean bit(int word, int index) {
    return (word >>> index & 1) == 1;
  }
}
