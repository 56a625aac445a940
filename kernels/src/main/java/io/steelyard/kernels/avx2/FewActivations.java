package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VBROADCASTI128;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VMOVDQU_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULSS;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.FewFormat;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode.Single;

/**
 * Activations as {@link FewTokens} takes them: blocks of 32 values as whole numbers of 16 bits, of
 * which eight share a scale. (A value of a hundredth of the largest of 256 still has more than the
 * 8 bits that the weights have.)
 *
 * <p>Arguments of its function: the activations; where the first block goes; blocks, at least 1;
 * where the first block's operands of {@link FewLevels} with one token go, those of the next behind
 * them; not used.
 *
 * <p>All sums are of what was rounded, so that an offset and the rounding's error don't add up.
 */
final class FewActivations {
  /** Places in a block, after its 32 values. */
  static final int SCALE = 64;

  /** An eighth of the sum of all 32, since eight lanes will add it. */
  static final int EIGHTH_OF_SUM = 68;

  /** Bytes of a block: a multiple of a register, so that none lies in two of the cache's lines. */
  static final int BLOCK = 96;

  /** Bytes of a block's operands for both halves of a register: four times 8 values, twice each. */
  static final int SPREAD = 4 * 32 + 2 * 32;

  static final FewFormat FORMAT = new FewFormat("int16", Single.FEW_ACTIVATIONS, BLOCK, SPREAD, 0);

  /** Places in them, after the values: scale and eighth of the sum, for all lanes. */
  static final int SPREAD_SCALE = 128;

  static final int SPREAD_EIGHTH = 160;

  /** Blocks that share a scale. */
  static final int SHARING = 8;

  private static final float LARGEST = 32_767;

  private static final Vec EIGHTH = ymm(14);

  private FewActivations() {}

  static Function function() {
    return Function.avx2(FewActivations::write);
  }

  private static void write(Assembler a) {
    Rounding.constants(a, LARGEST);
    Snippets.constant(a, EIGHTH, 0.125f, RAX);
    Label group = a.loop();
    Label rest = new Label();
    a.mov(R9, RDX);
    a.cmp(R9, SHARING);
    a.jump(Condition.NOT_GREATER, rest);
    a.mov(R9, SHARING);
    a.place(rest);
    a.sub(RDX, R9);
    Rounding.shareScale(a);
    Label block = a.loop();
    Vec sum = Rounding.roundByShared(a, at(RSI, SCALE));
    a.op(VMULSS, sum, sum, EIGHTH.as(16));
    a.op(VMOVSS_STORE, at(RSI, EIGHTH_OF_SUM), sum);
    Rounding.storeWords(a);
    for (int quarter = 0; quarter < 4; quarter++) {
      a.op(VBROADCASTI128, ymm(0), at(RSI, 16 * quarter));
      a.op(VMOVDQU_STORE, at(RCX, 32 * quarter), ymm(0));
    }
    a.op(VBROADCASTSS, ymm(0), at(RSI, SCALE));
    a.op(VMOVUPS_STORE, at(RCX, SPREAD_SCALE), ymm(0));
    a.op(VBROADCASTSS, ymm(0), at(RSI, EIGHTH_OF_SUM));
    a.op(VMOVUPS_STORE, at(RCX, SPREAD_EIGHTH), ymm(0));
    a.add(RCX, SPREAD);
    a.add(RDI, 128);
    a.add(RSI, BLOCK);
    a.sub(R9, 1);
    a.jump(Condition.NOT_EQUAL, block);
    a.cmp(RDX, 0);
    a.jump(Condition.NOT_EQUAL, group);
  }
}
