package io.steelyard.kernels.assembler;

import java.util.Optional;

/** A machine instruction as {@link Decoder} reads it. Registers go by their numbers. */
public sealed interface Instruction {
  /** The address of the instruction behind it. */
  long next();

  /**
   * A place in memory.
   *
   * @param index a register, or {@link #NONE}
   */
  record Place(int base, int index, int scale, int displacement) {
    public static final int NONE = -1;
  }

  /** What an instruction that is not one of {@link Op} does. */
  enum Name {
    MOV,
    MOV_STORE,
    MOV_IMM,
    LEA,
    ADD,
    SUB,
    AND,
    OR,
    XOR,
    CMP,
    TEST,
    SHL,
    SHR,
    SHLX,
    PUSH,
    POP,
    NOP,
    CALL,
    RET,
    JMP,
    /** A conditional jump; {@code reg} is the condition. */
    JUMP,
    KMOVD,
    KMOVQ,
    VPCMPD,
    VPBROADCASTD,
    VMOVD,
    VZEROUPPER,
    LDTILECFG,
    TILERELEASE,
    TILEZERO,
    TILELOADD,
    TILESTORED,
    TDPBF16PS,
    TDPBUSD;

    /** Whether the next instruction may be another one than that behind it. */
    public boolean isBranch() {
      return this == CALL || this == RET || this == JMP || this == JUMP;
    }
  }

  /**
   * An instruction that is not one of {@link Op}.
   *
   * @param reg the register of the encoding's field of this name
   * @param second the register of a VEX or EVEX prefix
   * @param rm the other register, where there is no place
   * @param bytes width of the operands
   * @param toRm whether {@code rm} or the place is the destination, and {@code reg} the source
   * @param immediate a value, or the address a jump leads to
   */
  record General(
      Name name,
      int reg,
      int second,
      int rm,
      Optional<Place> place,
      int bytes,
      boolean toRm,
      boolean hasImmediate,
      long immediate,
      long next)
      implements Instruction {}

  /**
   * An instruction of {@link Op}.
   *
   * @param bytes of the vectors
   * @param to the destination, unless it is memory
   * @param a the first source of two
   * @param b the last source, unless it is memory
   * @param place in memory, of the destination or of the last source
   * @param memoryBytes what the operand that may be memory covers; of a broadcast, one value
   * @param resultBytes what the result covers; of a register, the rest becomes zero
   * @param perElement whether memory is read element by element, where a mask selects it
   * @param store whether the place is the destination
   * @param mask a register, 0 for none
   */
  record Vector(
      Op op,
      int bytes,
      int to,
      int a,
      int b,
      Optional<Place> place,
      int memoryBytes,
      int resultBytes,
      boolean perElement,
      boolean store,
      boolean broadcast,
      int mask,
      boolean zeroing,
      int immediate,
      long next)
      implements Instruction {}
}
