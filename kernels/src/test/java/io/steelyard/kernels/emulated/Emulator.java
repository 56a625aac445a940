package io.steelyard.kernels.emulated;

import io.steelyard.kernels.assembler.Decoder;
import io.steelyard.kernels.assembler.Instruction;
import io.steelyard.kernels.assembler.Instruction.General;
import io.steelyard.kernels.assembler.Instruction.Vector;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Runs machine code of this process, instruction by instruction, over its memory: a processor with
 * AVX-512, VNNI, BF16 and AMX, wherever Java runs. A thread has one of its own.
 *
 * <p>Beyond computing, it finds functions out that count on what registers held when they were
 * called, that don't leave the registers which they have to, or that keep tiles in use.
 */
public final class Emulator {
  private static final int STACK_BYTES = 1 << 16;

  /** Where a function called from outside returns to. */
  private static final long OUTSIDE = 0;

  private static final ThreadLocal<Emulator> OWN = ThreadLocal.withInitial(Emulator::new);

  /** Instructions from an address up to a branch. Code stays mapped, so they stay right. */
  private static final Map<Long, Instruction[]> BLOCKS = new ConcurrentHashMap<>();

  private final Registers registers = new Registers();
  private final GeneralUnit generalUnit = new GeneralUnit(registers);
  private final VectorUnit vectorUnit = new VectorUnit(registers);
  private final TileUnit tileUnit = new TileUnit(registers);
  private final MemorySegment stack = Arena.ofAuto().allocate(STACK_BYTES, 64);

  private Emulator() {}

  /**
   * Calls a function of six arguments.
   *
   * @throws IllegalStateException if it breaks a rule, or has an instruction that is not known
   */
  public static long call(long function, long a, long b, long c, long d, long e, long f) {
    return OWN.get().run(function, new long[] {a, b, c, d, e, f});
  }

  private long run(long function, long[] arguments) {
    long[] general = registers.general;
    int[] places = {Registers.RDI, Registers.RSI, Registers.RDX, Registers.RCX, 8, 9};
    for (int i = 0; i < places.length; i++) {
      general[places[i]] = arguments[i];
    }
    general[Registers.RSP] = stack.address() + STACK_BYTES - 64;
    long[] kept = Arrays.stream(Registers.KEPT).mapToLong(n -> general[n]).toArray();
    registers.spoil();
    generalUnit.push(OUTSIDE);
    long at = function;
    while (at != OUTSIDE) {
      Instruction[] block = BLOCKS.computeIfAbsent(at, Emulator::decode);
      for (int i = 0; i < block.length - 1; i++) {
        step(block[i]);
      }
      at = branch((General) block[block.length - 1]);
    }
    for (int i = 0; i < kept.length; i++) {
      if (general[Registers.KEPT[i]] != kept[i]) {
        throw new IllegalStateException(
            "the function at 0x%x changed register %d".formatted(function, Registers.KEPT[i]));
      }
    }
    if (tileUnit.inUse()) {
      throw new IllegalStateException("the function at 0x%x kept tiles".formatted(function));
    }
    return general[Registers.RAX];
  }

  private static Instruction[] decode(long address) {
    List<Instruction> block = new ArrayList<>();
    Instruction last;
    long at = address;
    do {
      last = Decoder.decode(Memory.ALL, at);
      block.add(last);
      at = last.next();
    } while (!(last instanceof General general && general.name().isBranch()));
    return block.toArray(Instruction[]::new);
  }

  private void step(Instruction instruction) {
    if (instruction instanceof Vector vector) {
      vectorUnit.run(vector);
      return;
    }
    General general = (General) instruction;
    switch (general.name()) {
      case LDTILECFG, TILERELEASE, TILEZERO, TILELOADD, TILESTORED, TDPBF16PS, TDPBUSD ->
          tileUnit.run(general);
      default -> generalUnit.run(general);
    }
  }

  /** Where it leads. */
  private long branch(General i) {
    return switch (i.name()) {
      case JMP -> i.immediate();
      case JUMP -> generalUnit.holds(i.reg()) ? i.immediate() : i.next();
      case RET -> generalUnit.pop();
      default -> {
        long function = registers.general[i.rm()];
        generalUnit.push(i.next());
        registers.spoil();
        yield function;
      }
    };
  }
}
