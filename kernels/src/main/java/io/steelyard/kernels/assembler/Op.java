package io.steelyard.kernels.assembler;

import static io.steelyard.kernels.assembler.Op.Encoding.AVX;
import static io.steelyard.kernels.assembler.Op.Encoding.AVX512;
import static io.steelyard.kernels.assembler.Op.Encoding.EITHER;
import static io.steelyard.kernels.assembler.Op.Form.MR;
import static io.steelyard.kernels.assembler.Op.Form.RM;
import static io.steelyard.kernels.assembler.Op.Form.RVM;
import static io.steelyard.kernels.assembler.Op.Form.VM;
import static io.steelyard.kernels.assembler.Op.Memory.BYTE;
import static io.steelyard.kernels.assembler.Op.Memory.DWORD;
import static io.steelyard.kernels.assembler.Op.Memory.FIXED_16;
import static io.steelyard.kernels.assembler.Op.Memory.FIXED_32;
import static io.steelyard.kernels.assembler.Op.Memory.FULL;
import static io.steelyard.kernels.assembler.Op.Memory.FULL_D;
import static io.steelyard.kernels.assembler.Op.Memory.FULL_Q;
import static io.steelyard.kernels.assembler.Op.Memory.HALF;
import static io.steelyard.kernels.assembler.Op.Memory.QUARTER;
import static io.steelyard.kernels.assembler.Op.Memory.WORD;

/**
 * The vector instructions in use, named as in Intel's Software Developer's Manual, volume 2, from
 * which the encodings come. A store that shares its mnemonic with a load has {@code _STORE} added,
 * and a shift by an immediate count {@code _IMM}.
 */
public enum Op {
  // Moves.
  VMOVUPS(RM, 1, 0, 0, 0x10, FULL, EITHER),
  VMOVUPS_STORE(MR, 1, 0, 0, 0x11, FULL, EITHER),
  VMOVSS(RM, 1, 2, 0, 0x10, DWORD, EITHER),
  VMOVSS_STORE(MR, 1, 2, 0, 0x11, DWORD, EITHER),
  VMOVDQU32(RM, 1, 2, 0, 0x6F, FULL, AVX512),
  VMOVDQU32_STORE(MR, 1, 2, 0, 0x7F, FULL, AVX512),
  VMOVDQU16(RM, 1, 3, 1, 0x6F, FULL, AVX512),
  VMOVDQU(RM, 1, 2, 0, 0x6F, FULL, AVX),
  VMOVDQU_STORE(MR, 1, 2, 0, 0x7F, FULL, AVX),
  VMASKMOVPS(RVM, 2, 1, 0, 0x2C, FULL, AVX),
  /** Stores the first operand where the second selects lanes. */
  VMASKMOVPS_STORE(RVM, 2, 1, 0, 0x2E, FULL, AVX),
  VPEXTRB_STORE(MR, 3, 1, 0, 0x14, BYTE, EITHER),
  VPEXTRW_STORE(MR, 3, 1, 0, 0x15, WORD, EITHER),
  VPEXTRD_STORE(MR, 3, 1, 0, 0x16, DWORD, EITHER),
  VBROADCASTSS(RM, 2, 1, 0, 0x18, DWORD, EITHER),
  VPBROADCASTB(RM, 2, 1, 0, 0x78, BYTE, EITHER),
  VPBROADCASTW(RM, 2, 1, 0, 0x79, WORD, EITHER),
  VPBROADCASTD(RM, 2, 1, 0, 0x58, DWORD, EITHER),
  VBROADCASTI128(RM, 2, 1, 0, 0x5A, FIXED_16, AVX),
  VBROADCASTI32X4(RM, 2, 1, 0, 0x5A, FIXED_16, AVX512),
  VBROADCASTI64X4(RM, 2, 1, 1, 0x5B, FIXED_32, AVX512),
  VINSERTI64X4(RVM, 3, 1, 1, 0x3A, FIXED_32, AVX512),
  VINSERTI128(RVM, 3, 1, 0, 0x38, FIXED_16, AVX),
  VEXTRACTF64X4(MR, 3, 1, 1, 0x1B, FIXED_32, AVX512),
  VEXTRACTF128(MR, 3, 1, 0, 0x19, FIXED_16, AVX),

  // Float32 arithmetic.
  VADDPS(RVM, 1, 0, 0, 0x58, FULL_D, EITHER),
  VSUBPS(RVM, 1, 0, 0, 0x5C, FULL_D, EITHER),
  VMULPS(RVM, 1, 0, 0, 0x59, FULL_D, EITHER),
  VDIVPS(RVM, 1, 0, 0, 0x5E, FULL_D, EITHER),
  VMINPS(RVM, 1, 0, 0, 0x5D, FULL_D, EITHER),
  VMAXPS(RVM, 1, 0, 0, 0x5F, FULL_D, EITHER),
  VADDSS(RVM, 1, 2, 0, 0x58, DWORD, EITHER),
  VMULSS(RVM, 1, 2, 0, 0x59, DWORD, EITHER),
  VDIVSS(RVM, 1, 2, 0, 0x5E, DWORD, EITHER),
  VMAXSS(RVM, 1, 2, 0, 0x5F, DWORD, EITHER),
  VSQRTSS(RVM, 1, 2, 0, 0x51, DWORD, EITHER),
  VFMADD213PS(RVM, 2, 1, 0, 0xA8, FULL_D, EITHER),
  VFMADD231PS(RVM, 2, 1, 0, 0xB8, FULL_D, EITHER),
  VFMADD231SS(RVM, 2, 1, 0, 0xB9, DWORD, EITHER),
  VFNMADD231PS(RVM, 2, 1, 0, 0xBC, FULL_D, EITHER),
  VRNDSCALEPS(RM, 3, 1, 0, 0x08, FULL_D, AVX512),
  VSCALEFPS(RVM, 2, 1, 0, 0x2C, FULL_D, AVX512),

  // Conversions.
  VCVTDQ2PS(RM, 1, 0, 0, 0x5B, FULL_D, EITHER),
  VCVTPS2DQ(RM, 1, 1, 0, 0x5B, FULL_D, EITHER),
  VCVTTPS2DQ(RM, 1, 2, 0, 0x5B, FULL_D, EITHER),
  VCVTPH2PS(RM, 2, 1, 0, 0x13, HALF, EITHER),
  VCVTPS2PH(MR, 3, 1, 0, 0x1D, HALF, EITHER),
  VCVTNEPS2BF16(RM, 2, 2, 0, 0x72, FULL_D, AVX512),
  /** The second source's values go to the lower half. */
  VCVTNE2PS2BF16(RVM, 2, 3, 0, 0x72, FULL_D, AVX512),
  VPMOVSXBW(RM, 2, 1, 0, 0x20, HALF, EITHER),
  VPMOVZXBW(RM, 2, 1, 0, 0x30, HALF, EITHER),
  VPMOVSXBD(RM, 2, 1, 0, 0x21, QUARTER, EITHER),
  VPMOVZXBD(RM, 2, 1, 0, 0x31, QUARTER, EITHER),
  VPMOVZXWD(RM, 2, 1, 0, 0x33, HALF, EITHER),
  VPACKSSWB(RVM, 1, 1, 0, 0x63, FULL, EITHER),
  VPACKSSDW(RVM, 1, 1, 0, 0x6B, FULL_D, EITHER),
  VPMOVDB(MR, 2, 2, 0, 0x31, QUARTER, AVX512),

  // Integer arithmetic.
  VPSUBB(RVM, 1, 1, 0, 0xF8, FULL, EITHER),
  VPSUBW(RVM, 1, 1, 0, 0xF9, FULL, EITHER),
  VPADDW(RVM, 1, 1, 0, 0xFD, FULL, AVX),
  /** The first source's bytes, where the second's are negative with the other sign. */
  VPSIGNB(RVM, 2, 1, 0, 0x08, FULL, AVX),
  VPABSB(RM, 2, 1, 0, 0x1C, FULL, AVX),
  VPADDD(RVM, 1, 1, 0, 0xFE, FULL_D, EITHER),
  VPSUBD(RVM, 1, 1, 0, 0xFA, FULL_D, EITHER),
  VPSRLVD(RVM, 2, 1, 0, 0x45, FULL_D, EITHER),
  VPSRLVW(RVM, 2, 1, 1, 0x10, FULL, AVX512),
  VPSLLVW(RVM, 2, 1, 1, 0x12, FULL, AVX512),
  VPTERNLOGD(RVM, 3, 1, 0, 0x25, FULL_D, AVX512),
  /** The first source's bytes are unsigned, the second's signed. */
  VPMADDUBSW(RVM, 2, 1, 0, 0x04, FULL, AVX),
  VPMADDWD(RVM, 1, 1, 0, 0xF5, FULL, EITHER),
  VPDPBUSD(RVM, 2, 1, 0, 0x50, FULL_D, AVX512),
  /** Of AVX-VNNI: AVX-512's form is not in use. */
  VPDPWSSD(RVM, 2, 1, 0, 0x52, FULL, AVX),
  VDPBF16PS(RVM, 2, 2, 0, 0x52, FULL_D, AVX512),
  VPANDD(RVM, 1, 1, 0, 0xDB, FULL_D, AVX512),
  VPORD(RVM, 1, 1, 0, 0xEB, FULL_D, AVX512),
  VPXORD(RVM, 1, 1, 0, 0xEF, FULL_D, AVX512),
  VPAND(RVM, 1, 1, 0, 0xDB, FULL, AVX),
  VPOR(RVM, 1, 1, 0, 0xEB, FULL, AVX),
  VPXOR(RVM, 1, 1, 0, 0xEF, FULL, AVX),
  VPCMPGTD(RVM, 1, 1, 0, 0x66, FULL, AVX),
  VPCMPEQD(RVM, 1, 1, 0, 0x76, FULL, AVX),
  VPSRLW_IMM(VM, 1, 1, 0, 0x71, 2, FULL, EITHER),
  VPSLLW_IMM(VM, 1, 1, 0, 0x71, 6, FULL, EITHER),
  VPSRAD_IMM(VM, 1, 1, 0, 0x72, 4, FULL_D, EITHER),
  VPSRLD_IMM(VM, 1, 1, 0, 0x72, 2, FULL_D, EITHER),
  VPSLLD_IMM(VM, 1, 1, 0, 0x72, 6, FULL_D, EITHER),

  // Shuffles.
  VPERMILPS(RM, 3, 1, 0, 0x04, FULL_D, EITHER),
  VPUNPCKLBW(RVM, 1, 1, 0, 0x60, FULL, EITHER),
  VPUNPCKHBW(RVM, 1, 1, 0, 0x68, FULL, EITHER),
  VPUNPCKLDQ(RVM, 1, 1, 0, 0x62, FULL_D, EITHER),
  VPUNPCKHDQ(RVM, 1, 1, 0, 0x6A, FULL_D, EITHER),
  VPUNPCKLQDQ(RVM, 1, 1, 1, 0x6C, FULL_Q, EITHER),
  VPUNPCKHQDQ(RVM, 1, 1, 1, 0x6D, FULL_Q, EITHER),
  VSHUFI32X4(RVM, 3, 1, 0, 0x43, FULL_D, AVX512),
  VSHUFF32X4(RVM, 3, 1, 0, 0x23, FULL_D, AVX512),
  VPSHUFB(RVM, 2, 1, 0, 0x00, FULL, EITHER),
  VPERMW(RVM, 2, 1, 1, 0x8D, FULL, AVX512),
  VPERMPS(RVM, 2, 1, 0, 0x16, FULL_D, EITHER),
  /** The destination holds indices into the other two. */
  VPERMI2PS(RVM, 2, 1, 0, 0x77, FULL_D, AVX512),
  /** The first source holds indices into the destination and the other one. */
  VPERMT2PS(RVM, 2, 1, 0, 0x7F, FULL_D, AVX512);

  /** Which operands an instruction has, in the order of its encoding's fields. */
  enum Form {
    /** Destination, and a register or memory. */
    RM,
    /** Destination, a register, and a register or memory. */
    RVM,
    /** Destination in a register or memory, and a register. */
    MR,
    /** Destination, a register or memory, and a count. */
    VM
  }

  /** Where an instruction exists: in AVX and AVX2, in AVX-512, or in either. */
  enum Encoding {
    AVX,
    AVX512,
    EITHER
  }

  /** How much memory an operand covers; AVX-512 counts short displacements in that unit. */
  enum Memory {
    /** A whole vector. */
    FULL(0, 0),
    /** A whole vector, or one float32 for all lanes. */
    FULL_D(0, 4),
    /** A whole vector, or one 8-byte value for all lanes. */
    FULL_Q(0, 8),
    HALF(-2, 0),
    QUARTER(-4, 0),
    BYTE(1, 0),
    WORD(2, 0),
    DWORD(4, 0),
    FIXED_16(16, 0),
    FIXED_32(32, 0);

    private final int bytes;
    final int broadcastBytes;

    Memory(int bytes, int broadcastBytes) {
      this.bytes = bytes;
      this.broadcastBytes = broadcastBytes;
    }

    int bytes(int vectorBytes) {
      return bytes == 0 ? vectorBytes : bytes > 0 ? bytes : vectorBytes / -bytes;
    }
  }

  final Form form;
  final int map;
  final int prefix;
  final int wide;
  final int opcode;
  final int digit;
  final Memory memory;

  final Encoding encoding;

  Op(Form form, int map, int prefix, int wide, int opcode, Memory memory, Encoding encoding) {
    this(form, map, prefix, wide, opcode, 0, memory, encoding);
  }

  Op(
      Form form,
      int map,
      int prefix,
      int wide,
      int opcode,
      int digit,
      Memory memory,
      Encoding encoding) {
    this.form = form;
    this.map = map;
    this.prefix = prefix;
    this.wide = wide;
    this.opcode = opcode;
    this.digit = digit;
    this.memory = memory;
    this.encoding = encoding;
  }
}
