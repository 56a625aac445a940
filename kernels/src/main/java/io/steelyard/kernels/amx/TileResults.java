package io.steelyard.kernels.amx;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Gpr.RSP;
import static io.steelyard.kernels.assembler.Mask.K1;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.avx512.Square;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.TileCode;

/**
 * A block of sums, see {@link TileCode}, as rows of results, one for a token.
 *
 * <p>Arguments of its function: the sums; the first token's results; bytes from one token's results
 * to the next; tokens, 1 to 16; which of the 32 rows are written, as bits; where the results of the
 * next call will go.
 */
final class TileResults {
  private static final int ROW = 64;

  private TileResults() {}

  static Function function() {
    return Function.of(TileResults::write);
  }

  private static void write(Assembler a) {
    a.push(RBP);
    a.mov(RBP, RSP);
    a.sub(RSP, TileCode.TILE_BYTES);
    a.and(RSP, -64);
    a.lea(R10, at(RDX, RDX, 2));
    a.mov(R11, R9);
    for (int i = 0; i < 16; i++) {
      a.prefetchw(inFour(i % 4));
      a.prefetchw(inFour(i % 4).plus(ROW));
      if (i % 4 == 3) {
        a.lea(R11, at(R11, RDX, 4));
      }
    }
    for (int tile = 0; tile < TileCode.SUM_BYTES; tile += TileCode.TILE_BYTES) {
      a.kmovd(K1, R8);
      a.shr(R8, 16);
      for (int i = 0; i < 16; i++) {
        a.op(VMOVUPS, zmm(i), at(RDI, tile + ROW * i));
      }
      Square.turn(a);
      a.mov(R11, RSI);
      Label some = new Label();
      Label end = new Label();
      a.cmp(RCX, TileCode.TOKENS);
      a.jump(Condition.NOT_EQUAL, some);
      for (int i = 0; i < 16; i++) {
        a.merge(K1).op(VMOVUPS_STORE, inFour(i % 4), zmm(i));
        if (i % 4 == 3) {
          a.lea(R11, at(R11, RDX, 4));
        }
      }
      a.jmp(end);
      a.place(some);
      for (int i = 0; i < 16; i++) {
        a.op(VMOVUPS_STORE, at(RSP, ROW * i), zmm(i));
      }
      a.mov(RAX, RSP);
      a.mov(R9, RCX);
      Label token = a.loop();
      a.op(VMOVUPS, zmm(0), at(RAX));
      a.merge(K1).op(VMOVUPS_STORE, at(R11), zmm(0));
      a.add(RAX, ROW);
      a.add(R11, RDX);
      a.sub(R9, 1);
      a.jump(Condition.NOT_EQUAL, token);
      a.place(end);
      a.add(RSI, ROW);
    }
    a.mov(RSP, RBP);
    a.pop(RBP);
  }

  /** The results of one of four tokens. */
  private static Mem inFour(int token) {
    return switch (token) {
      case 0 -> at(R11);
      case 1 -> at(R11, RDX, 1);
      case 2 -> at(R11, RDX, 2);
      default -> at(R11, R10, 1);
    };
  }
}
