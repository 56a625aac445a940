package io.steelyard.kernels.machine;

import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Mem;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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
    AVX_VNNI,
    /** AVX-512 F, BW, DQ and VL. */
    AVX512,
    AVX512_VNNI,
    AVX512_BF16,
    /** AMX tiles of int8 and bf16. */
    AMX
  }

  private static final int VECTOR_STATE = 0b110;
  private static final int AVX512_STATE = 0b1110_0110;
  private static final int TILE_STATE = 0b11 << 17;
  private static final long REQUEST_PERMISSION = 0x1023;
  private static final long ARCH_PRCTL = 158;
  private static final long TILE_DATA = 18;

  private Cpu() {}

  /** Whether machine code of ours can run at all. */
  public static boolean isX86Linux() {
    return System.getProperty("os.arch").equals("amd64")
        && System.getProperty("os.name").equals("Linux");
  }

  static void requireX86() {
    if (!isX86Linux()) {
      throw new UnsupportedOperationException(
          "machine-code kernels need Linux on x86-64; this is "
              + System.getProperty("os.name")
              + " on "
              + System.getProperty("os.arch"));
    }
  }

  /**
   * The features that processor and system offer together.
   *
   * @throws UnsupportedOperationException if machine code can't run here; the message says why
   */
  public static Set<Feature> features() {
    return Detected.FEATURES;
  }

  /** The processor's own name, such as {@code AMD EPYC 9355P}; empty if it has none. */
  public static String name() {
    return Detected.NAME;
  }

  /**
   * Asks the system once for the use of tile registers, which it grants to a process on request.
   *
   * @return whether they may be used
   */
  public static boolean requestTiles() {
    return Detected.FEATURES.contains(Feature.AMX)
        && SystemCalls.call(
                SystemCalls.function("syscall"), ARCH_PRCTL, REQUEST_PERMISSION, TILE_DATA, 0, 0, 0)
            == 0;
  }

  /** Asked once, on first use. */
  private static final class Detected {
    static final Set<Feature> FEATURES;
    static final String NAME;

    static {
      requireX86();
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
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment out = arena.allocate(16);
        FEATURES = EnumSet.noneOf(Feature.class);
        int leaves = ask(cpuid, 0, 0, out)[0];
        int[] one = ask(cpuid, 1, 0, out);
        boolean savesState = bit(one[2], 27) && bit(one[2], 28);
        if (leaves >= 7 && savesState) {
          int state = (int) Function.plain(a -> xgetbv(a)).call(0, 0, 0, 0);
          find(one, ask(cpuid, 7, 0, out), ask(cpuid, 7, 1, out), state);
        }
        StringBuilder name = new StringBuilder();
        if (Integer.compareUnsigned(ask(cpuid, 0x8000_0000, 0, out)[0], 0x8000_0004) >= 0) {
          for (int leaf = 0x8000_0002; leaf <= 0x8000_0004; leaf++) {
            for (int part : ask(cpuid, leaf, 0, out)) {
              for (int i = 0; i < 4; i++) {
                char letter = (char) (part >> (8 * i) & 0xFF);
                name.append(letter == 0 ? ' ' : letter);
              }
            }
          }
        }
        NAME = name.toString().strip();
      }
    }

    private Detected() {}

    private static void xgetbv(io.steelyard.kernels.assembler.Assembler a) {
      a.xor(Gpr.RCX, Gpr.RCX);
      a.xgetbv();
    }

    private static void find(int[] one, int[] seven, int[] sevenOne, int state) {
      if ((state & VECTOR_STATE) != VECTOR_STATE) {
        return;
      }
      boolean fma = bit(one[2], 12) && bit(one[2], 29);
      if (fma && bit(seven[1], 5) && bit(seven[1], 8)) {
        FEATURES.add(Feature.AVX2);
        if (bit(sevenOne[0], 4)) {
          FEATURES.add(Feature.AVX_VNNI);
        }
      }
      boolean wide =
          bit(seven[1], 16) && bit(seven[1], 17) && bit(seven[1], 30) && bit(seven[1], 31);
      if (FEATURES.contains(Feature.AVX2) && wide && (state & AVX512_STATE) == AVX512_STATE) {
        FEATURES.add(Feature.AVX512);
        if (bit(seven[2], 11)) {
          FEATURES.add(Feature.AVX512_VNNI);
        }
        if (bit(sevenOne[0], 5)) {
          FEATURES.add(Feature.AVX512_BF16);
        }
        boolean tiles = bit(seven[3], 22) && bit(seven[3], 24) && bit(seven[3], 25);
        if (tiles && (state & TILE_STATE) == TILE_STATE) {
          FEATURES.add(Feature.AMX);
        }
      }
    }

    private static int[] ask(Function cpuid, int leaf, int sub, MemorySegment out) {
      cpuid.call(leaf & 0xFFFF_FFFFL, sub, out.address(), 0);
      return out.toArray(ValueLayout.JAVA_INT);
    }

    private static boolean bit(int word, int index) {
      return (word >>> index & 1) == 1;
    }
  }
}
