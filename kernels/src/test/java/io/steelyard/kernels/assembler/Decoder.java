package io.steelyard.kernels.assembler;

import io.steelyard.kernels.assembler.Instruction.General;
import io.steelyard.kernels.assembler.Instruction.Name;
import io.steelyard.kernels.assembler.Instruction.Place;
import io.steelyard.kernels.assembler.Instruction.Vector;
import io.steelyard.kernels.assembler.Op.Encoding;
import io.steelyard.kernels.assembler.Op.Form;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Reads the instructions that {@link Assembler} writes, and no others.
 *
 * <p>Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2.
 */
public final class Decoder {
  private static final int LONGEST = 15;

  static final Set<Op> IN_MEMORY_ONLY =
      EnumSet.of(
          Op.VMOVSS,
          Op.VMOVSS_STORE,
          Op.VMASKMOVPS,
          Op.VMASKMOVPS_STORE,
          Op.VPEXTRB_STORE,
          Op.VPEXTRW_STORE,
          Op.VPEXTRD_STORE,
          Op.VBROADCASTI128,
          Op.VBROADCASTI32X4,
          Op.VBROADCASTI64X4);

  /** These can't have a mask, or have no use for one. */
  static final Set<Op> UNMASKED =
      EnumSet.of(
          Op.VMOVSS,
          Op.VMOVSS_STORE,
          Op.VPEXTRB_STORE,
          Op.VPEXTRW_STORE,
          Op.VPEXTRD_STORE,
          Op.VADDSS,
          Op.VMULSS,
          Op.VDIVSS,
          Op.VMAXSS,
          Op.VSQRTSS,
          Op.VFMADD231SS);

  /** A mask says nothing about which elements of these sources are read. */
  private static final Set<Op> MOVES_ELEMENTS =
      EnumSet.of(
          Op.VPACKSSWB,
          Op.VPACKSSDW,
          Op.VPERMILPS,
          Op.VPUNPCKLBW,
          Op.VPUNPCKHBW,
          Op.VPUNPCKLDQ,
          Op.VPUNPCKHDQ,
          Op.VPUNPCKLQDQ,
          Op.VPUNPCKHQDQ,
          Op.VSHUFI32X4,
          Op.VSHUFF32X4,
          Op.VPSHUFB,
          Op.VPERMW,
          Op.VPERMPS,
          Op.VPERMI2PS,
          Op.VPERMT2PS);

  private final MemorySegment memory;
  private final long begin;
  private long at;

  // The fields of a prefix; registers' bits stand where they belong in a number.
  private boolean evex;
  private int map;
  private int prefix;
  private boolean wide;
  private int bytes = 16;
  private int second;
  private int highReg;
  private int highIndex;
  private int highBase;
  private int mask;
  private boolean zeroing;
  private boolean broadcast;

  // The operands.
  private int reg;
  private int rm;
  private Optional<Place> place = Optional.empty();

  private Decoder(MemorySegment memory, long at) {
    this.memory = memory;
    this.begin = at;
    this.at = at;
  }

  /**
   * The instruction at an offset.
   *
   * @throws IllegalStateException if it is none that the assembler writes
   */
  public static Instruction decode(MemorySegment memory, long at) {
    return new Decoder(memory, at).decode();
  }

  private Instruction decode() {
    return switch (peek()) {
      case 0xC4, 0xC5 -> {
        vexPrefix();
        yield vectorOrOther();
      }
      case 0x62 -> {
        evexPrefix();
        yield vectorOrOther();
      }
      default -> legacy();
    };
  }

  // ---- Instructions without VEX and EVEX.

  private Instruction legacy() {
    if (peek() == 0x66) {
      one();
      return nopOrNothing();
    }
    if (peek() >> 4 == 4) {
      int rex = one();
      wide = (rex & 8) != 0;
      highReg = (rex & 4) << 1;
      highIndex = (rex & 2) << 2;
      highBase = (rex & 1) << 3;
    }
    bytes = wide ? 8 : 4;
    int opcode = one();
    return switch (opcode) {
      case 0x89 -> general(Name.MOV_STORE, true);
      case 0x8B -> general(Name.MOV, false);
      case 0x8D -> general(Name.LEA, false);
      case 0x01 -> general(Name.ADD, true);
      case 0x03 -> general(Name.ADD, false);
      case 0x29 -> general(Name.SUB, true);
      case 0x09 -> general(Name.OR, true);
      case 0x31 -> general(Name.XOR, true);
      case 0x39 -> general(Name.CMP, true);
      case 0x85 -> general(Name.TEST, true);
      case 0x81, 0x83 -> {
        operands(1);
        long value = opcode == 0x83 ? (byte) one() : four();
        yield immediate(
            switch (reg & 7) {
              case 0 -> Name.ADD;
              case 4 -> Name.AND;
              case 5 -> Name.SUB;
              case 7 -> Name.CMP;
              default -> throw unknown();
            },
            value);
      }
      case 0xC1 -> {
        operands(1);
        yield immediate(
            switch (reg & 7) {
              case 4 -> Name.SHL;
              case 5 -> Name.SHR;
              default -> throw unknown();
            },
            one());
      }
      case 0xB8, 0xB9, 0xBA, 0xBB, 0xBC, 0xBD, 0xBE, 0xBF -> {
        rm = (opcode & 7) | highBase;
        long low = four() & 0xFFFF_FFFFL;
        yield immediate(Name.MOV_IMM, wide ? low | (long) four() << 32 : low);
      }
      case 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57 -> {
        rm = (opcode & 7) | highBase;
        yield general(Name.PUSH);
      }
      case 0x58, 0x59, 0x5A, 0x5B, 0x5C, 0x5D, 0x5E, 0x5F -> {
        rm = (opcode & 7) | highBase;
        yield general(Name.POP);
      }
      case 0xFF -> {
        operands(1);
        require((reg & 7) == 2 && place.isEmpty());
        yield general(Name.CALL);
      }
      case 0xC3 -> general(Name.RET);
      case 0xE9 -> jump(Name.JMP);
      case 0x90 -> general(Name.NOP);
      case 0x0F -> twoBytes();
      default -> throw unknown();
    };
  }

  private Instruction twoBytes() {
    int opcode = one();
    if (opcode >> 4 == 8) {
      reg = opcode & 15;
      return jump(Name.JUMP);
    }
    require(opcode == 0x1F || opcode == 0x18 || opcode == 0x0D);
    operands(1);
    int digit = opcode == 0x1F ? 0 : opcode == 0x18 ? 2 : 1;
    require((reg & 7) == digit && place.isPresent());
    return general(Name.NOP);
  }

  private Instruction nopOrNothing() {
    int opcode = one();
    if (opcode == 0x90) {
      return general(Name.NOP);
    }
    require(opcode == 0x0F && peek() == 0x1F);
    return twoBytes();
  }

  private Instruction jump(Name name) {
    int distance = four();
    return immediate(name, at + distance);
  }

  private Instruction general(Name name, boolean toRm) {
    boolean narrow = name == Name.MOV || name == Name.MOV_STORE;
    require(wide || narrow);
    operands(1);
    require(name != Name.LEA || place.isPresent());
    return new General(name, reg, second, rm, place, bytes, toRm, false, 0, at);
  }

  private Instruction general(Name name) {
    return new General(name, reg, second, rm, place, bytes, false, false, 0, at);
  }

  private Instruction immediate(Name name, long value) {
    return new General(name, reg, second, rm, place, bytes, true, true, value, at);
  }

  // ---- Instructions with VEX and EVEX.

  private void vexPrefix() {
    boolean isLong = one() == 0xC4;
    int bits = one();
    highReg = ~bits >> 4 & 8;
    map = 1;
    int last = bits;
    if (isLong) {
      highIndex = ~bits >> 3 & 8;
      highBase = ~bits >> 2 & 8;
      map = bits & 31;
      last = one();
      wide = (last & 0x80) != 0;
    }
    second = ~last >> 3 & 15;
    bytes = (last & 4) != 0 ? 32 : 16;
    prefix = last & 3;
  }

  private void evexPrefix() {
    one();
    evex = true;
    int bits = one();
    require((bits & 8) == 0);
    highReg = (~bits >> 4 & 8) | (~bits & 16);
    highIndex = ~bits >> 3 & 8;
    highBase = ~bits >> 2 & 8;
    map = bits & 7;
    bits = one();
    require((bits & 4) != 0);
    wide = (bits & 0x80) != 0;
    second = ~bits >> 3 & 15;
    prefix = bits & 3;
    bits = one();
    zeroing = (bits & 0x80) != 0;
    broadcast = (bits & 0x10) != 0;
    second |= (~bits & 8) << 1;
    mask = bits & 7;
    int length = bits >> 5 & 3;
    require(length < 3 && (mask > 0 || !zeroing));
    bytes = 16 << length;
  }

  private Instruction vectorOrOther() {
    int opcode = one();
    int digit = peek() >> 3 & 7;
    for (Op op : Op.values()) {
      boolean same = op.map == map && op.prefix == prefix && op.opcode == opcode;
      boolean here =
          evex
              ? op.encoding != Encoding.AVX && op.wide == (wide ? 1 : 0)
              : op.encoding != Encoding.AVX512 && !wide;
      if (same && here && (op.form != Form.VM || op.digit == digit)) {
        return vector(op);
      }
    }
    return other(opcode);
  }

  private Instruction vector(Op op) {
    int memoryBytes = broadcast ? op.memory.broadcastBytes : op.memory.bytes(bytes);
    require(memoryBytes > 0);
    operands(memoryBytes);
    require(place.isPresent() || !(broadcast || IN_MEMORY_ONLY.contains(op)));
    boolean toRm = op.form == Form.MR;
    boolean toSecond = op.form == Form.VM;
    boolean store = (toRm && place.isPresent()) || op == Op.VMASKMOVPS_STORE;
    require(op.form == Form.RVM || toSecond || second == 0);
    require(!(store && zeroing) && (mask == 0 || !UNMASKED.contains(op)));
    // Those with an immediate value are all in the third table, but for the shifts.
    int immediate = op.map == 3 || op.form == Form.VM ? one() : 0;
    boolean perElement =
        switch (op.memory) {
          case FULL, FULL_D, FULL_Q, HALF, QUARTER -> !broadcast && !MOVES_ELEMENTS.contains(op);
          default -> false;
        };
    return new Vector(
        op,
        bytes,
        toRm ? rm : toSecond ? second : reg,
        second,
        toRm ? reg : rm,
        place,
        memoryBytes,
        toRm ? memoryBytes : op == Op.VCVTNEPS2BF16 ? bytes / 2 : bytes,
        perElement,
        store,
        broadcast,
        mask,
        zeroing,
        immediate,
        at);
  }

  private Instruction other(int opcode) {
    if (!evex && map == 1 && prefix == 0 && opcode == 0x77) {
      require(bytes == 16 && second == 0);
      return general(Name.VZEROUPPER);
    }
    operands(1);
    int key = (evex ? 0x1_0000 : 0) | map << 12 | prefix << 8 | opcode;
    boolean register = place.isEmpty();
    require(mask == 0 && !broadcast);
    return switch (key) {
      case 0x1392 -> with(register && second == 0, wide ? Name.KMOVQ : Name.KMOVD);
      case 0x116E -> with(register && second == 0 && !wide, Name.VMOVD);
      case 0x21F7 -> with(register && wide, Name.SHLX);
      case 0x1_217C -> with(register && second == 0 && !wide, Name.VPBROADCASTD);
      case 0x1_311F -> {
        require(register && !wide && reg < 8);
        yield immediate(Name.VPCMPD, one());
      }
      case 0x2049 -> with(second == 0, register ? Name.TILERELEASE : Name.LDTILECFG);
      case 0x2349 -> with(register && second == 0, Name.TILEZERO);
      case 0x234B -> with(!register && second == 0, Name.TILELOADD);
      case 0x224B -> with(!register && second == 0, Name.TILESTORED);
      case 0x225C -> with(register && distinct(), Name.TDPBF16PS);
      case 0x215E -> with(register && distinct(), Name.TDPBUSD);
      default -> throw unknown();
    };
  }

  private boolean distinct() {
    return reg != second && reg != rm && second != rm;
  }

  private Instruction with(boolean valid, Name name) {
    require(valid);
    return general(name);
  }

  // ---- Operands.

  /** Reads what follows the opcode; short displacements count in units of so many bytes. */
  private void operands(int unit) {
    int modrm = one();
    int mod = modrm >> 6;
    reg = (modrm >> 3 & 7) | highReg;
    rm = modrm & 7;
    if (mod == 3) {
      rm |= highBase | (evex ? highIndex << 1 : 0);
      return;
    }
    int base = rm;
    int index = Place.NONE;
    int scale = 1;
    if (rm == 4) {
      int sib = one();
      scale = 1 << (sib >> 6);
      int number = (sib >> 3 & 7) | highIndex;
      index = number == 4 ? Place.NONE : number;
      base = sib & 7;
    }
    require(mod > 0 || base != 5);
    int displacement = mod == 0 ? 0 : mod == 1 ? (byte) one() * (evex ? unit : 1) : four();
    place = Optional.of(new Place(base | highBase, index, scale, displacement));
  }

  private int peek() {
    return at < memory.byteSize() ? memory.get(ValueLayout.JAVA_BYTE, at) & 0xFF : 0;
  }

  private int one() {
    return memory.get(ValueLayout.JAVA_BYTE, at++) & 0xFF;
  }

  private int four() {
    int value = memory.get(ValueLayout.JAVA_INT_UNALIGNED, at);
    at += 4;
    return value;
  }

  private void require(boolean valid) {
    if (!valid) {
      throw unknown();
    }
  }

  private IllegalStateException unknown() {
    StringBuilder text = new StringBuilder("no instruction of the assembler's:");
    for (long i = begin; i < Math.min(begin + LONGEST, memory.byteSize()); i++) {
      text.append(" %02x".formatted(memory.get(ValueLayout.JAVA_BYTE, i)));
    }
    return new IllegalStateException(text + " at 0x" + Long.toHexString(begin));
  }
}
