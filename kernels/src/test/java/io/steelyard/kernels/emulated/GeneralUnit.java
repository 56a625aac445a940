package io.steelyard.kernels.emulated;

import io.steelyard.kernels.assembler.Instruction.General;
import java.util.Arrays;

/** Carries out the instructions that are not of vectors or tiles. */
final class GeneralUnit {
  private final Registers registers;
  private final long[] general;

  GeneralUnit(Registers registers) {
    this.registers = registers;
    general = registers.general;
  }

  /** Carries out any but a branch. */
  void run(General i) {
    switch (i.name()) {
      case MOV_IMM -> general[i.rm()] = i.immediate();
      case MOV -> general[i.reg()] = source(i);
      case MOV_STORE -> store(i);
      case LEA -> general[i.reg()] = registers.address(i.place().orElseThrow());
      case ADD, SUB, AND, OR, XOR, CMP, TEST -> arithmetic(i);
      case SHL, SHR -> shift(i);
      case SHLX -> general[i.reg()] = general[i.rm()] << general[i.second()];
      case PUSH -> push(general[i.rm()]);
      case POP -> general[i.rm()] = pop();
      case NOP -> {}
      case KMOVD -> registers.masks[i.reg()] = general[i.rm()] & 0xFFFF_FFFFL;
      case KMOVQ -> registers.masks[i.reg()] = general[i.rm()];
      case VPCMPD -> compare(i);
      case VPBROADCASTD -> {
        int[] to = registers.vectors[i.reg()];
        Arrays.fill(to, 0);
        Arrays.fill(to, 0, i.bytes() / Integer.BYTES, (int) general[i.rm()]);
      }
      case VMOVD -> {
        int[] to = registers.vectors[i.reg()];
        Arrays.fill(to, 0);
        to[0] = (int) general[i.rm()];
      }
      case VZEROUPPER -> {
        for (int n = 0; n < 16; n++) {
          Arrays.fill(registers.vectors[n], 4, 16, 0);
        }
      }
      default -> throw new IllegalStateException("no general instruction: " + i);
    }
  }

  void push(long value) {
    general[Registers.RSP] -= Long.BYTES;
    Memory.putLong(general[Registers.RSP], value);
  }

  long pop() {
    long value = Memory.getLong(general[Registers.RSP]);
    general[Registers.RSP] += Long.BYTES;
    return value;
  }

  /** Whether a conditional jump of this code is taken. */
  boolean holds(int condition) {
    boolean base =
        switch (condition >> 1) {
          case 1 -> registers.carry;
          case 2 -> registers.zero;
          case 6 -> registers.sign != registers.overflow;
          case 7 -> registers.zero || registers.sign != registers.overflow;
          default -> throw new IllegalStateException("no condition of ours: " + condition);
        };
    return base != ((condition & 1) == 1);
  }

  private long source(General i) {
    if (i.place().isEmpty()) {
      return i.bytes() == 8 ? general[i.rm()] : general[i.rm()] & 0xFFFF_FFFFL;
    }
    long address = registers.address(i.place().get());
    return i.bytes() == 8 ? Memory.getLong(address) : Memory.getInt(address) & 0xFFFF_FFFFL;
  }

  private void store(General i) {
    long value = general[i.reg()];
    if (i.place().isEmpty()) {
      general[i.rm()] = i.bytes() == 8 ? value : value & 0xFFFF_FFFFL;
    } else if (i.bytes() == 8) {
      Memory.putLong(registers.address(i.place().get()), value);
    } else {
      Memory.putInt(registers.address(i.place().get()), (int) value);
    }
  }

  private void arithmetic(General i) {
    if (i.bytes() != 8 || (i.toRm() && i.place().isPresent())) {
      throw new IllegalStateException("only arithmetic on registers of 8 bytes is known: " + i);
    }
    int to = i.toRm() ? i.rm() : i.reg();
    long a = general[to];
    long b = i.hasImmediate() ? i.immediate() : i.toRm() ? general[i.reg()] : source(i);
    long result =
        switch (i.name()) {
          case ADD -> a + b;
          case SUB, CMP -> a - b;
          case AND, TEST -> a & b;
          case OR -> a | b;
          default -> a ^ b;
        };
    switch (i.name()) {
      case ADD -> {
        registers.carry = Long.compareUnsigned(result, a) < 0;
        registers.overflow = ((a ^ result) & (b ^ result)) < 0;
      }
      case SUB, CMP -> {
        registers.carry = Long.compareUnsigned(a, b) < 0;
        registers.overflow = ((a ^ b) & (a ^ result)) < 0;
      }
      default -> {
        registers.carry = false;
        registers.overflow = false;
      }
    }
    flags(result);
    switch (i.name()) {
      case CMP, TEST -> {}
      default -> general[to] = result;
    }
  }

  private void shift(General i) {
    long result =
        switch (i.name()) {
          case SHL -> general[i.rm()] << i.immediate();
          default -> general[i.rm()] >>> i.immediate();
        };
    // A program that jumps by them after a shift would have to mean the result.
    registers.carry = false;
    registers.overflow = false;
    flags(result);
    general[i.rm()] = result;
  }

  private void flags(long result) {
    registers.zero = result == 0;
    registers.sign = result < 0;
  }

  private void compare(General i) {
    int[] a = registers.vectors[i.second()];
    int[] b = registers.vectors[i.rm()];
    long mask = 0;
    for (int lane = 0; lane < i.bytes() / Integer.BYTES; lane++) {
      boolean holds =
          switch ((int) i.immediate()) {
            case 0 -> a[lane] == b[lane];
            case 1 -> a[lane] < b[lane];
            case 2 -> a[lane] <= b[lane];
            case 4 -> a[lane] != b[lane];
            case 5 -> a[lane] >= b[lane];
            case 6 -> a[lane] > b[lane];
            default -> throw new IllegalStateException("no comparison of ours: " + i);
          };
      mask |= holds ? 1L << lane : 0;
    }
    registers.masks[i.reg()] = mask;
  }
}
