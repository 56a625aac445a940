package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R12;
import static io.steelyard.kernels.assembler.Gpr.R13;
import static io.steelyard.kernels.assembler.Gpr.R14;
import static io.steelyard.kernels.assembler.Gpr.R15;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Gpr.RBX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Gpr.RSP;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;

/**
 * The loop over rows of {@link FewTokens}, {@link FewUnsigned}, {@link FewSixBits} and {@link
 * FewLevels}: products of rows as they lie in the file with a few tokens.
 *
 * <p>Arguments of its functions: the first row; not used; activations; bytes from one token's
 * activations to the next; where the first token's product goes; the address of seven longs: blocks
 * of a row (for types without blocks, values); rows; bytes from one token's products to the next;
 * not used; bytes from a token's activations to their scales; bytes from one row to the next, whose
 * products lie next to each other; and bytes from a token's activations to the sums of its blocks.
 *
 * <p>Registers: RDI the row; RDX activations, RCX bytes of a token's, R11 three times that; R8
 * products; R9 the longs; R12 the block in the row, RBX the block's activations, R13 its scales,
 * RBP counts blocks, RSI rows that are left. RAX, R10, R14, R15 and the stack are free.
 */
abstract class RowLoop {
  // Places of the longs.
  static final int ROW_BLOCKS = 0;
  private static final int ROWS = 8;
  static final int SCALES = 32;
  private static final int ROW_BYTES = 40;
  static final int SUMS = 48;

  /** How far ahead rows are asked for, in bytes: about what comes while memory answers. */
  private static final int AHEAD = 2048;

  private static final int LINE = 64;

  private static final Gpr[] KEPT = {RBX, RBP, R12, R13, R14, R15};

  final Assembler a;
  final DataType type;
  final int tokens;

  RowLoop(Assembler a, DataType type, int tokens) {
    this.a = a;
    this.type = type;
    this.tokens = tokens;
  }

  /**
   * Writes the function.
   *
   * @param stack bytes of the stack that are used
   */
  final void write(int stack) {
    for (Gpr register : KEPT) {
      a.push(register);
    }
    // Aligned, so that what is stored there can be loaded at once.
    a.mov(RAX, RSP);
    a.sub(RSP, stack + Long.BYTES);
    a.and(RSP, -64);
    a.mov(at(RSP, stack), RAX);
    a.lea(R11, at(RCX, RCX, 2));
    constants();
    a.mov(RSI, at(R9, ROWS));
    Label row = a.loop();
    a.mov(R12, RDI);
    a.mov(RBX, RDX);
    a.mov(R13, RDX);
    a.add(R13, at(R9, SCALES));
    a.mov(RBP, at(R9, ROW_BLOCKS));
    for (int token = 0; token < tokens; token++) {
      Snippets.clear(a, sum(token));
    }
    products();
    store();
    a.add(RDI, at(R9, ROW_BYTES));
    a.add(R8, Float.BYTES);
    a.sub(RSI, 1);
    a.jump(Condition.GREATER, row);
    a.mov(RSP, at(RSP, stack));
    for (int i = KEPT.length - 1; i >= 0; i--) {
      a.pop(KEPT[i]);
    }
  }

  /** Fills what keeps its value from row to row. */
  abstract void constants();

  /** Adds a row's products to the sums, which are zero. */
  abstract void products();

  /** Stores the sums. */
  abstract void store();

  /** Asks for so many bytes of the row some way ahead of R12. */
  final void ask(int bytes) {
    for (int at = 0; at < bytes; at += LINE) {
      a.prefetcht1(at(R12, AHEAD + at));
    }
  }

  /** A token's sum. */
  static Vec sum(int token) {
    return ymm(token);
  }

  /** A token's activations of the block. */
  final Mem token(int token, int offset) {
    return ofToken(RBX, token, offset);
  }

  /** What belongs to a token, by the register that has the first token's. */
  static Mem ofToken(Gpr first, int token, int offset) {
    return switch (token) {
      case 0 -> at(first, offset);
      case 1 -> at(first, RCX, 1, offset);
      case 2 -> at(first, RCX, 2, offset);
      case 3 -> at(first, R11, 1, offset);
      case 4 -> at(first, RCX, 4, offset);
      case 5 -> at(first, R14, 1, offset);
      case 6 -> at(first, R11, 2, offset);
      default -> at(first, R15, 1, offset);
    };
  }

  /** Fills R14 and R15, which the places of the sixth token and the eighth need. */
  final void moreTokens() {
    a.lea(R14, at(RCX, RCX, 4));
    a.lea(R15, at(R11, RCX, 4));
  }
}
