package io.steelyard.kernels.amx;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
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
 * whether to add to the sums (1) or to begin them (0).
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
    configure(a, 4);
    a.mov(R10, 64);
    Label block = a.loop();
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
