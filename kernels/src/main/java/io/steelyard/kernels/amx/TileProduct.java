package io.steelyard.kernels.amx;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R12;
import static io.steelyard.kernels.assembler.Gpr.R13;
import static io.steelyard.kernels.assembler.Gpr.R14;
import static io.steelyard.kernels.assembler.Gpr.R15;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Gpr.RSP;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Tile.TMM0;
import static io.steelyard.kernels.assembler.Tile.TMM1;
import static io.steelyard.kernels.assembler.Tile.TMM2;
import static io.steelyard.kernels.assembler.Tile.TMM3;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Tile;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.TileCode;

/**
 * A block of weights times blocks of activations. Of a split product the smallest part, low times
 * low, is left out.
 *
 * <p>Two sums, with the tiles that are multiplied loaded again and again into the same two
 * registers, and not four with four, which would load a third less: a core whose other thread uses
 * tiles too has few to spare for renaming, and the fewer of the eight a program uses, the more. On
 * such a core this order was measured at 690 GMAC/s and that of four sums at 310; on a core of
 * one's own both reach 1,390.
 *
 * <p>Arguments of its functions: weights; the first block of activations; the first block of sums;
 * blocks of activations, at least 1, each following the other as their sums do; chunks, at least 1;
 * the address of five longs: whether to add to the sums (1) or to begin them (0); and what memory
 * to ask for meanwhile, with every block of activations some rows: the first; bytes from one to the
 * next; how many with a block; and lines of each, 0 for none.
 */
final class TileProduct {
  /** Bytes of the stack that {@link #configure} takes. */
  static final int CONFIGURATION = 64;

  private static final Tile[] SUMS = {TMM0, TMM1};
  private static final Tile WEIGHTS = TMM2;
  private static final Tile ACTIVATIONS = TMM3;

  private TileProduct() {}

  static Function of(boolean split) {
    return Function.of(a -> write(a, split));
  }

  private static void write(Assembler a, boolean split) {
    Gpr[] kept = {RBX, R12, R13, R14, R15};
    for (Gpr register : kept) {
      a.push(register);
    }
    a.mov(RBX, at(R9, 8));
    a.mov(R12, at(R9, 16));
    a.mov(R13, at(R9, 24));
    a.mov(R14, at(R9, 32));
    a.mov(R9, at(R9));
    configure(a, 4);
    a.mov(R10, 64);
    Label block = a.loop();
    ask(a);
    Label add = new Label();
    Label begun = new Label();
    a.test(R9, R9);
    a.jump(Condition.NOT_EQUAL, add);
    for (Tile sum : SUMS) {
      a.tilezero(sum);
    }
    a.jmp(begun);
    a.place(add);
    for (int i = 0; i < SUMS.length; i++) {
      load(a, SUMS[i], RDX, i);
    }
    a.place(begun);
    a.mov(RAX, RDI);
    a.mov(R11, R8);
    Label chunk = a.loop();
    load(a, ACTIVATIONS, RSI, 0);
    multiply(a, 0);
    if (split) {
      multiply(a, 2);
      load(a, ACTIVATIONS, RSI, 1);
      multiply(a, 0);
    }
    a.add(RAX, TileCode.weightBytes(split));
    a.add(RSI, TileCode.activationBytes(split));
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, chunk);
    for (int i = 0; i < SUMS.length; i++) {
      a.tilestored(at(RDX, R10, 1, i * TileCode.TILE_BYTES), SUMS[i]);
    }
    a.add(RDX, TileCode.SUM_BYTES);
    a.sub(RCX, 1);
    a.jump(Condition.NOT_EQUAL, block);
    a.tilerelease();
    a.add(RSP, CONFIGURATION);
    for (int i = kept.length - 1; i >= 0; i--) {
      a.pop(kept[i]);
    }
  }

  /** Asks for some rows of memory: from RBX on, R12 bytes apart, R13 rows, R14 lines of each. */
  private static void ask(Assembler a) {
    Label end = new Label();
    a.test(R14, R14);
    a.jump(Condition.EQUAL, end);
    a.mov(R15, R13);
    Label row = a.loop();
    a.mov(RAX, RBX);
    a.mov(R11, R14);
    Label line = a.loop();
    a.prefetcht1(at(RAX));
    a.add(RAX, 64);
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, line);
    a.add(RBX, R12);
    a.sub(R15, 1);
    a.jump(Condition.NOT_EQUAL, row);
    a.place(end);
  }

  /** Two tiles of a chunk's weights times its activations. */
  private static void multiply(Assembler a, int firstTile) {
    for (int i = 0; i < SUMS.length; i++) {
      load(a, WEIGHTS, RAX, firstTile + i);
      a.tdpbf16ps(SUMS[i], WEIGHTS, ACTIVATIONS);
    }
  }

  private static void load(Assembler a, Tile tile, Gpr chunk, int number) {
    a.tileloadd(tile, at(chunk, R10, 1, number * TileCode.TILE_BYTES));
  }

  /** Gives the first tiles 16 rows of 64 bytes. What it puts on the stack the caller takes off. */
  static void configure(Assembler a, int tiles) {
    a.sub(RSP, CONFIGURATION);
    // Palette 1; from byte 16 on the bytes of each tile's rows, from 48 on its rows.
    long columns = 0x0040_0040_0040_0040L;
    long[] words = {1, 0, columns, tiles > 4 ? columns : 0, 0, 0, -1L >>> (64 - 8 * tiles), 0};
    words[6] &= 0x1010_1010_1010_1010L;
    for (int i = 0; i < words.length; i++) {
      a.mov(RAX, words[i]);
      a.mov(at(RSP, 8 * i), RAX);
    }
    a.ldtilecfg(at(RSP));
  }
}
