package io.steelyard.kernels.amx;

import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RSP;
import static io.steelyard.kernels.assembler.Tile.TMM0;
import static io.steelyard.kernels.assembler.Tile.TMM1;
import static io.steelyard.kernels.assembler.Tile.TMM2;
import static io.steelyard.kernels.assembler.Tile.TMM3;
import static io.steelyard.kernels.assembler.Tile.TMM4;
import static io.steelyard.kernels.assembler.Tile.TMM5;

import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Tile;
import io.steelyard.kernels.machine.Function;
import java.util.List;

/** Loops of nothing but one product of tiles, to learn how fast it can be at best. */
public enum TilePeak {
  /** Products of bytes, added as int32. */
  TDPBUSD(4),
  /** Products of bf16 pairs, added as float32. */
  TDPBF16PS(2);

  private static final List<Tile> SUMS = List.of(TMM0, TMM1, TMM2, TMM3);

  /** Products that are added to a 32-bit sum. */
  private final int products;

  TilePeak(int products) {
    this.products = products;
  }

  /** Multiplications of one turn of the loop. */
  public long productsOfTurn() {
    return SUMS.size() * 16L * 16 * 16 * products;
  }

  /** The loop. Argument: turns, at least 1. */
  public Function function() {
    return Function.of(
        a -> {
          TileProduct.configure(a, Tile.values().length);
          for (Tile tile : Tile.values()) {
            a.tilezero(tile);
          }
          Label turn = a.loop();
          for (Tile sum : SUMS) {
            if (this == TDPBUSD) {
              a.tdpbusd(sum, TMM4, TMM5);
            } else {
              a.tdpbf16ps(sum, TMM4, TMM5);
            }
          }
          a.sub(RDI, 1);
          a.jump(Condition.NOT_EQUAL, turn);
          a.tilerelease();
          a.add(RSP, TileProduct.CONFIGURATION);
        });
  }
}
