package io.steelyard.kernels.avx512;

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
import static io.steelyard.kernels.assembler.Mask.K1;
import static io.steelyard.kernels.assembler.Mask.K2;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Tile.TMM0;
import static io.steelyard.kernels.assembler.Tile.TMM1;
import static io.steelyard.kernels.assembler.Tile.TMM2;
import static io.steelyard.kernels.assembler.Tile.TMM3;
import static io.steelyard.kernels.assembler.Tile.TMM4;
import static io.steelyard.kernels.assembler.Tile.TMM5;
import static io.steelyard.kernels.assembler.Tile.TMM6;
import static io.steelyard.kernels.assembler.Tile.TMM7;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Tile;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.Product;
import java.util.List;

/**
 * {@link Product#TILES}: 32 rows by up to 32 tokens of bf16 pairs in AMX tiles, two by two. A tile
 * of activations is 16 tokens by 32 values; a tile of weights is 16 pairs of values by 16 rows,
 * which is how half of a panel lies in memory.
 */
final class TileProduct {
  /** Bytes of a token's values in a chunk, and so of a row of any tile. */
  private static final int ROW = 64;

  /** Bytes from one pair of values to the next in a panel of 32 rows. */
  private static final int PAIR = 128;

  private static final int CONFIGURATION = 64;
  private static final int RESULTS = Product.ROWS * PAIR;

  private TileProduct() {}

  static Function of(int tokens) {
    return Function.of(a -> write(a, tokens));
  }

  private static void write(Assembler a, int tokens) {
    a.sub(RSP, CONFIGURATION + RESULTS);
    configure(a);
    for (Tile sum : List.of(TMM0, TMM1, TMM2, TMM3)) {
      a.tilezero(sum);
    }
    a.mov(R10, ROW);
    a.mov(R11, PAIR);
    Label chunk = a.loop();
    a.tileloadd(TMM4, at(RSI, R10, 1));
    a.tileloadd(TMM6, at(RDI, R11, 1));
    a.tileloadd(TMM7, at(RDI, R11, 1, PAIR / 2));
    a.tdpbf16ps(TMM0, TMM4, TMM6);
    a.tdpbf16ps(TMM1, TMM4, TMM7);
    if (tokens > 16) {
      a.tileloadd(TMM5, at(RSI, R10, 1, 16 * ROW));
      a.tdpbf16ps(TMM2, TMM5, TMM6);
      a.tdpbf16ps(TMM3, TMM5, TMM7);
    }
    a.add(RDI, Product.TILES.panelChunk());
    a.add(RSI, Product.TILES.tileChunk());
    a.sub(R8, 1);
    a.jump(Condition.NOT_EQUAL, chunk);
    a.tilestored(at(RSP, R11, 1, CONFIGURATION), TMM0);
    a.tilestored(at(RSP, R11, 1, CONFIGURATION + PAIR / 2), TMM1);
    if (tokens > 16) {
      a.tilestored(at(RSP, R11, 1, CONFIGURATION + 16 * PAIR), TMM2);
      a.tilestored(at(RSP, R11, 1, CONFIGURATION + 16 * PAIR + PAIR / 2), TMM3);
    }
    a.tilerelease();
    store(a, tokens);
    a.add(RSP, CONFIGURATION + RESULTS);
  }

  /** All eight tiles have 16 rows of 64 bytes: palette 1, then columns, then rows. */
  private static void configure(Assembler a) {
    long columns = 0x0040_0040_0040_0040L;
    long[] words = {1, 0, columns, columns, 0, 0, 0x1010_1010_1010_1010L, 0};
    for (int i = 0; i < words.length; i++) {
      a.mov(RAX, words[i]);
      a.mov(at(RSP, 8 * i), RAX);
    }
    a.ldtilecfg(at(RSP));
  }

  private static void store(Assembler a, int tokens) {
    a.kmovd(K1, R9);
    a.shr(R9, 16);
    a.kmovd(K2, R9);
    a.shr(R9, 16);
    a.lea(R10, at(RSP, CONFIGURATION));
    a.mov(R11, tokens);
    Label token = a.loop();
    a.op(VMOVUPS, zmm(0), at(R10));
    a.op(VMOVUPS, zmm(1), at(R10, PAIR / 2));
    Label plain = new Label();
    a.test(R9, R9);
    a.jump(Condition.EQUAL, plain);
    a.zero(K1).op(VADDPS, zmm(0), zmm(0), at(RDX));
    a.zero(K2).op(VADDPS, zmm(1), zmm(1), at(RDX, 64));
    a.place(plain);
    a.merge(K1).op(VMOVUPS_STORE, at(RDX), zmm(0));
    a.merge(K2).op(VMOVUPS_STORE, at(RDX, 64), zmm(1));
    a.add(R10, PAIR);
    a.add(RDX, RCX);
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, token);
  }
}
