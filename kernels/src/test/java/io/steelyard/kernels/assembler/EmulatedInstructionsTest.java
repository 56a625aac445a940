package io.steelyard.kernels.assembler;

import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.kernels.assembler.Op.Encoding;
import io.steelyard.kernels.assembler.Op.Form;
import io.steelyard.kernels.avx512.Avx512;
import io.steelyard.kernels.machine.Cpu;
import io.steelyard.kernels.machine.EmulatedFunction;
import io.steelyard.kernels.machine.Function;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each vector instruction on random registers: the emulator gives what the processor does. */
@EnabledOnOs(OS.LINUX)
final class EmulatedInstructionsTest {
  private static final int VARIANTS = 128;
  private static final int OUT = 128 * VARIANTS;
  private static final int ROUNDS = 30;

  /** Of numbers that are none, bits may differ: Java leaves open which of two a sum keeps. */
  private static final Pattern FLOATS =
      Pattern.compile("V(ADD|SUB|MUL|DIV|MIN|MAX|SQRT|FN?MADD|RNDSCALE|SCALEF|CVTPH2PS|DPBF16).*");

  private static final float[] SPECIAL = {
    0, -0f, 1, -1, 0.5f, 2.5f, 1e-40f, -3e-42f, 3e38f, Float.POSITIVE_INFINITY, -65_504, 3e9f, 6e-8f
  };

  @ParameterizedTest
  @EnumSource
  void everyInstructionIsKnown(Op op) {
    try (Arena arena = Arena.ofConfined()) {
      Function function = new EmulatedFunction(Function.of(a -> new Writer(a, op, true).write()));
      MemorySegment out = arena.allocate(OUT, 64);
      assertThatNoException().isThrownBy(() -> call(function, op, arena, 0, out));
    }
  }

  @ParameterizedTest
  @EnumSource
  void resultsAreTheProcessors(Op op) {
    boolean wide = Avx512.available();
    assumeTrue(Cpu.features().contains(Cpu.Feature.AVX2), "not applicable here: no AVX2");
    assumeTrue(wide || op.encoding != Encoding.AVX512, "not applicable here: no AVX-512");
    assumeTrue(
        op != Op.VPDPWSSD || Cpu.features().contains(Cpu.Feature.AVX_VNNI),
        "not applicable here: no AVX-VNNI");
    Function function =
        wide
            ? Function.of(a -> new Writer(a, op, true).write())
            : Function.avx2(a -> new Writer(a, op, false).write());
    Function emulated = new EmulatedFunction(function);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment expected = arena.allocate(OUT, 64);
      MemorySegment actual = arena.allocate(OUT, 64);
      for (int round = 0; round < ROUNDS; round++) {
        call(function, op, arena, round, expected);
        call(emulated, op, arena, round, actual);
        for (int lane = 0; lane < OUT / 4; lane++) {
          int real = expected.getAtIndex(ValueLayout.JAVA_INT, lane);
          int found = actual.getAtIndex(ValueLayout.JAVA_INT, lane);
          boolean none =
              Float.isNaN(Float.intBitsToFloat(real))
                  && Float.isNaN(Float.intBitsToFloat(found))
                  && FLOATS.matcher(op.name()).matches();
          if (real != found && !none) {
            assertThat(Integer.toHexString(found))
                .as("round %d, variant %d, lane %d", round, lane / 32, lane % 32)
                .isEqualTo(Integer.toHexString(real));
          }
        }
      }
    }
  }

  private static void call(Function function, Op op, Arena arena, long seed, MemorySegment out) {
    SplittableRandom random = new SplittableRandom(seed);
    MemorySegment in = arena.allocate(3 * 64, 64);
    for (int lane = 0; lane < 48; lane++) {
      int bits =
          switch ((int) seed % 3) {
            case 0 -> random.nextInt();
            case 1 -> Float.floatToRawIntBits((float) random.nextDouble(-100, 100));
            default -> Float.floatToRawIntBits(SPECIAL[random.nextInt(SPECIAL.length)]);
          };
      // Counts of shifts are small as a rule.
      boolean count = op.name().matches("VPS[RL]LV[DW]") && lane >= 32;
      in.setAtIndex(ValueLayout.JAVA_INT, lane, count ? bits & 0x0001_001F : bits);
    }
    out.fill((byte) 0);
    function.call(in.address(), out.address(), 0, 0);
  }

  /** Writes an instruction in its widths and forms, each with the same three registers. */
  private static final class Writer {
    private final Assembler a;
    private final Op op;
    private final boolean wide;
    private int variants;

    Writer(Assembler a, Op op, boolean wide) {
      this.a = a;
      this.op = op;
      this.wide = wide;
    }

    void write() {
      if (wide) {
        a.mov(Gpr.RAX, 0x6C35_9A71_D2E4_B19DL);
        a.kmovq(Mask.K3, Gpr.RAX);
      }
      boolean masks = wide && op.encoding != Encoding.AVX && !Decoder.UNMASKED.contains(op);
      for (int bytes : new int[] {16, 32, 64}) {
        if (!Encodings.exists(op, bytes) || (bytes == 64 && !wide)) {
          continue;
        }
        for (int immediate : immediates()) {
          for (int masking = 0; masking < (masks ? 3 : 1); masking++) {
            variant(bytes, immediate, masking, false);
            variant(bytes, immediate, masking, true);
          }
        }
      }
    }

    private int[] immediates() {
      return switch (op) {
        case VRNDSCALEPS -> new int[] {0, 1, 2, 3};
        case VPEXTRB_STORE, VPEXTRW_STORE, VPEXTRD_STORE -> new int[] {0, 1, 3};
        case VPSRLW_IMM, VPSLLW_IMM, VPSRAD_IMM, VPSRLD_IMM, VPSLLD_IMM -> new int[] {1, 7, 40};
        case VCVTPS2PH -> new int[] {0};
        default -> op.map == 3 ? new int[] {0x1B, 0xE4, 0x87} : new int[] {0};
      };
    }

    private void variant(int bytes, int immediate, int masking, boolean inMemory) {
      boolean registersOnly = op.form == Form.VM || op == Op.VCVTNEPS2BF16;
      boolean memoryOnly =
          Decoder.IN_MEMORY_ONLY.contains(op) || (op.form == Form.MR && masking == 2);
      boolean store = inMemory && op.form == Form.MR;
      if (inMemory ? registersOnly || (store && masking == 2) : memoryOnly) {
        return;
      }
      int whole = wide ? 64 : 32;
      for (int n = 0; n < 3; n++) {
        a.op(Op.VMOVUPS, new Vec(n, whole), at(RDI, 64 * n));
      }
      if (variants == VARIANTS) {
        throw new IllegalStateException("there is no room for so many variants of " + op);
      }
      int out = 128 * variants++;
      if (masking == 1) {
        a.merge(Mask.K3);
      } else if (masking == 2) {
        a.zero(Mask.K3);
      }
      instruction(bytes, immediate, inMemory, at(RSI, out + 64));
      a.op(Op.VMOVUPS_STORE, at(RSI, out), new Vec(0, whole));
    }

    private void instruction(int bytes, int immediate, boolean inMemory, Mem out) {
      Vec to = new Vec(0, bytes);
      Vec first = new Vec(1, bytes);
      Vec second = new Vec(2, bytes);
      Mem place = op == Op.VMASKMOVPS_STORE ? out : at(RDI, 128);
      boolean hasImmediate = op.map == 3;
      switch (op.form) {
        case VM -> a.op(op, to, second, immediate);
        case RVM -> {
          if (inMemory && hasImmediate) {
            a.op(op, to, first, place, immediate);
          } else if (inMemory) {
            a.op(op, to, first, place);
          } else if (hasImmediate) {
            a.op(op, to, first, second, immediate);
          } else {
            a.op(op, to, first, second);
          }
        }
        case RM -> {
          if (inMemory && hasImmediate) {
            a.op(op, to, place, immediate);
          } else if (inMemory) {
            a.op(op, to, place);
          } else if (hasImmediate) {
            a.op(op, to, second, immediate);
          } else {
            a.op(op, to, second);
          }
        }
        case MR -> {
          if (inMemory && hasImmediate) {
            a.op(op, out, first, immediate);
          } else if (inMemory) {
            a.op(op, out, first);
          } else if (hasImmediate) {
            a.op(op, to, first, immediate);
          } else {
            a.op(op, to, first);
          }
        }
      }
    }
  }
}
