package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
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
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD213PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMASKMOVPS;
import static io.steelyard.kernels.assembler.Op.VMASKMOVPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPADDW;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPCMPEQD;
import static io.steelyard.kernels.assembler.Op.VPMADDUBSW;
import static io.steelyard.kernels.assembler.Op.VPMADDWD;
import static io.steelyard.kernels.assembler.Op.VPSUBD;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.Product;

/**
 * {@link Product}s of float32, float16, words and unsigned bytes with the 16 registers of AVX2: 16
 * rows by six tokens at a time, three with weights of 6 bits. The float32 sums of whole numbers
 * wait on the stack while a chunk is added up.
 */
final class NarrowProduct {
  /**
   * What a panel of floats may take: it is read for every six tokens, from the first-level cache.
   */
  static final long PANEL_BYTES = 32_000;

  private static final Vec LANE_BITS = ymm(15);
  private static final Vec ACTIVATION = ymm(14);
  private static final Vec PRODUCT = ymm(15);
  private static final Vec ONES = ymm(13);
  private static final Vec OTHER = ymm(12);

  private static final Vec TWO_STEPS = ymm(11);

  /** Bytes of a register. */
  private static final int EIGHT = 32;

  /** Registers of eight rows at a time. */
  private static final int EIGHTS = 2;

  private final Assembler a;
  private final Product product;
  private final int tokens;
  private final boolean vnni;

  /** Tokens at a time. */
  private final int step;

  private NarrowProduct(Assembler a, Product product, int tokens, boolean vnni) {
    this.a = a;
    this.product = product;
    this.tokens = tokens;
    this.vnni = vnni;
    step = product == Product.SIX_BITS ? 3 : 6;
  }

  /**
   * See {@link MachineCode#product}.
   *
   * @param vnni whether it may use AVX-VNNI
   */
  static Function of(Product product, int tokens, boolean vnni) {
    return Function.avx2(a -> new NarrowProduct(a, product, tokens, vnni).write());
  }

  private Vec sum(int token, int eight) {
    return ymm(EIGHTS * token + eight);
  }

  /** A register for eight rows' weights, constants or mask. */
  private Vec ofRows(int eight) {
    return ymm(EIGHTS * step + eight);
  }

  private void write() {
    a.push(RBX);
    if (product.isInteger()) {
      a.push(RBP);
      a.mov(RBP, RSP);
      a.sub(RSP, 2 * EIGHT * EIGHTS * step);
      a.and(RSP, -EIGHT);
    }
    if (product == Product.SIX_BITS) {
      Snippets.constant(a, ONES, 0x0001_0001, RAX);
    }
    for (int first = 0; first < tokens; first += step) {
      int count = Math.min(step, tokens - first);
      for (int eight = 0; eight < Product.ROWS / 8; eight += EIGHTS) {
        multiply(first, count, eight);
        store(count, eight);
      }
      for (int token = 0; token < count; token++) {
        a.add(RDX, RCX);
      }
    }
    if (product.isInteger()) {
      a.mov(RSP, RBP);
      a.pop(RBP);
    }
    a.pop(RBX);
  }

  private void multiply(int first, int count, int firstEight) {
    eachSum(count, this::clear);
    a.lea(R10, at(RDI, 8 * rowBytes() * firstEight));
    a.lea(R11, at(RSI, product.tokenBytes() * first));
    a.mov(RAX, R8);
    Label chunk = a.loop();
    if (product.isInteger()) {
      integers(first, count);
    } else {
      floats(count);
    }
    a.add(R10, product.panelChunk());
    a.add(R11, product.tileChunk());
    a.sub(RAX, 1);
    a.jump(Condition.NOT_EQUAL, chunk);
    if (product.isInteger()) {
      eachSum(count, (token, eight) -> a.op(VMOVUPS, sum(token, eight), waiting(token, eight)));
    }
  }

  private void clear(int token, int eight) {
    Snippets.clear(a, sum(token, eight));
    if (product.isInteger()) {
      a.op(VMOVUPS_STORE, waiting(token, eight), sum(token, eight));
    }
  }

  /** Where the float32 sums of words wait. */
  private Mem waiting(int token, int eight) {
    return at(RSP, EIGHT * (EIGHTS * token + eight));
  }

  /** Where whole sums of the first of two turns wait. */
  private Mem firstTurn(int token, int eight) {
    return at(RSP, EIGHT * (EIGHTS * (step + token) + eight));
  }

  /** Bytes of a panel's step for a row. */
  private int rowBytes() {
    return product == Product.F16 ? 2 : 4;
  }

  private Mem weights(int step, int eight) {
    return at(R10, rowBytes() * (Product.ROWS * step + 8 * eight));
  }

  private Mem activation(int token, int step) {
    return at(R11, product.tokenBytes() * token + 4 * step);
  }

  private void floats(int count) {
    for (int k = 0; k < product.steps(); k++) {
      for (int eight = 0; eight < EIGHTS; eight++) {
        a.op(product == Product.F16 ? VCVTPH2PS : VMOVUPS, ofRows(eight), weights(k, eight));
      }
      for (int token = 0; token < count; token++) {
        a.op(VBROADCASTSS, ACTIVATION, activation(token, k));
        for (int eight = 0; eight < EIGHTS; eight++) {
          a.op(VFMADD231PS, sum(token, eight), ofRows(eight), ACTIVATION);
        }
      }
    }
  }

  private void integers(int first, int count) {
    int steps = product.steps();
    switch (product) {
      case UNSIGNED -> {
        turn(first, count, 0);
        eachSum(
            count,
            (token, eight) -> a.op(VMOVUPS_STORE, firstTurn(token, eight), sum(token, eight)));
        turn(first, count, 1);
        eachSum(
            count,
            (token, eight) ->
                a.op(VPADDD, sum(token, eight), sum(token, eight), firstTurn(token, eight)));
        scale(first, count, product.scales(), product.tileScale(0));
        offsets(first, count);
        await(count);
      }
      case SIX_BITS -> {
        int half = steps / 2;
        int second = product.scales() + product.secondHalf();
        fourSteps(first, count, 0, product.tileScale(0));
        scale(first, count, product.scales(), product.tileScale(0));
        await(count);
        fourSteps(first, count, half, product.tileSecondScale(0));
        scale(first, count, second, product.tileSecondScale(0));
        await(count);
      }
      default -> {
        for (int k = 0; k < steps; k++) {
          step(count, k, k == 0);
        }
        scale(first, count, product.scales(), product.tileScale(0));
        await(count);
      }
    }
  }

  /** Multiplies every second step, and the sums by what their scale is of the chunk's. */
  private void turn(int first, int count, int turn) {
    for (int k = turn; k < product.steps(); k += 2) {
      step(count, k, k == turn);
    }
    for (int token = 0; token < count; token++) {
      a.op(VBROADCASTSS, ACTIVATION, ofTile(product.tileMultiplier(turn, first + token), first));
      for (int eight = 0; eight < EIGHTS; eight++) {
        a.op(VPMADDWD, sum(token, eight), sum(token, eight), ACTIVATION);
      }
    }
  }

  /**
   * Whole sums become float32, and those that wait are added.
   *
   * @param scales of the panel's rows: place in its chunk
   * @param tileScales of the tile's tokens: place in its chunk
   */
  private void scale(int first, int count, int scales, int tileScales) {
    constants(scales);
    for (int token = 0; token < count; token++) {
      a.op(VBROADCASTSS, ACTIVATION, ofTile(tileScales + Float.BYTES * (first + token), first));
      for (int eight = 0; eight < EIGHTS; eight++) {
        a.op(VMULPS, PRODUCT, ofRows(eight), ACTIVATION);
        a.op(VCVTDQ2PS, sum(token, eight), sum(token, eight));
        a.op(VFMADD213PS, sum(token, eight), PRODUCT, waiting(token, eight));
      }
    }
  }

  private void offsets(int first, int count) {
    constants(product.offsets());
    for (int token = 0; token < count; token++) {
      a.op(VBROADCASTSS, ACTIVATION, ofTile(product.tileSum(first + token), first));
      for (int eight = 0; eight < EIGHTS; eight++) {
        a.op(VFMADD231PS, sum(token, eight), ofRows(eight), ACTIVATION);
      }
    }
  }

  private void await(int count) {
    eachSum(count, (token, eight) -> a.op(VMOVUPS_STORE, waiting(token, eight), sum(token, eight)));
  }

  /** Multiplies pairs of words, or of bytes. */
  private void step(int count, int step, boolean begins) {
    boolean unsigned = product == Product.UNSIGNED;
    for (int eight = 0; eight < EIGHTS; eight++) {
      a.op(VMOVUPS, ofRows(eight), weights(step, eight));
    }
    for (int token = 0; token < count; token++) {
      a.op(VBROADCASTSS, ACTIVATION, activation(token, step));
      for (int eight = 0; eight < EIGHTS; eight++) {
        Vec sum = sum(token, eight);
        if (begins) {
          a.op(unsigned ? VPMADDUBSW : VPMADDWD, sum, ofRows(eight), ACTIVATION);
        } else if (unsigned) {
          a.op(VPMADDUBSW, PRODUCT, ofRows(eight), ACTIVATION);
          a.op(VPADDW, sum, sum, PRODUCT);
        } else {
          Snippets.addWords(a, vnni, sum, ofRows(eight), ACTIVATION, PRODUCT);
        }
      }
    }
  }

  /** Multiplies weights of 6 bits: a half's products, less 32 times its activations. */
  private void fourSteps(int first, int count, int begin, int tileScales) {
    for (int step = begin; step < begin + 4; step += 2) {
      for (int eight = 0; eight < EIGHTS; eight++) {
        a.op(VMOVUPS, ofRows(eight), weights(step, eight));
        a.op(VMOVUPS, ofRows(EIGHTS + eight), weights(step + 1, eight));
      }
      for (int token = 0; token < count; token++) {
        a.op(VBROADCASTSS, ACTIVATION, activation(token, step));
        a.op(VBROADCASTSS, OTHER, activation(token, step + 1));
        for (int eight = 0; eight < EIGHTS; eight++) {
          Vec sum = sum(token, eight);
          Vec two = step == begin ? sum : TWO_STEPS;
          a.op(VPMADDUBSW, two, ofRows(eight), ACTIVATION);
          a.op(VPMADDUBSW, PRODUCT, ofRows(EIGHTS + eight), OTHER);
          a.op(VPADDW, two, two, PRODUCT);
          if (step == begin) {
            a.op(VPMADDWD, sum, two, ONES);
          } else {
            Snippets.addWords(a, vnni, sum, two, ONES, two);
          }
        }
      }
    }
    int sums = product.tileSum(0) - product.tileScale(0);
    for (int token = 0; token < count; token++) {
      a.op(VBROADCASTSS, OTHER, ofTile(tileScales + sums + Float.BYTES * (first + token), first));
      for (int eight = 0; eight < EIGHTS; eight++) {
        a.op(VPSUBD, sum(token, eight), sum(token, eight), OTHER);
      }
    }
  }

  /** Loads a constant of each row, so many bytes into a chunk of the panel. */
  private void constants(int offset) {
    for (int eight = 0; eight < EIGHTS; eight++) {
      a.op(VMOVUPS, ofRows(eight), at(R10, offset + EIGHT * eight));
    }
  }

  /** A constant of a chunk of the tile, where R11 is at the first of some tokens. */
  private Mem ofTile(int place, int first) {
    return at(R11, place - product.tokenBytes() * first);
  }

  private void store(int count, int firstEight) {
    Label some = new Label();
    Label end = new Label();
    // A store of chosen lanes takes many times what a whole one does, even where all are chosen.
    a.mov(R10, 0xFFFF_FFFF_0000_0000L);
    a.mov(RAX, R9);
    a.shl(RAX, Integer.SIZE);
    a.cmp(RAX, R10);
    a.jump(Condition.NOT_EQUAL, some);
    store(
        count,
        firstEight,
        (sum, rows, place) -> a.op(VADDPS, sum, sum, place),
        (sum, rows, place) -> a.op(VMOVUPS_STORE, place, sum));
    a.jmp(end);
    a.place(some);
    chosenRows(firstEight);
    store(
        count,
        firstEight,
        (sum, rows, place) -> {
          a.op(VMASKMOVPS, ymm(14), rows, place);
          a.op(VADDPS, sum, sum, ymm(14));
        },
        (sum, rows, place) -> a.op(VMASKMOVPS_STORE, sum, rows, place));
    a.place(end);
  }

  /** Makes masks of the rows that are written. */
  private void chosenRows(int firstEight) {
    // Bit i of lane i tells whether the lane's row is written.
    Snippets.bytes(a, LANE_BITS, 0x8040_2010_0804_0201L, 0, RAX);
    for (int eight = 0; eight < EIGHTS; eight++) {
      Vec rows = ofRows(eight);
      a.mov(RAX, R9);
      if (firstEight + eight > 0) {
        a.shr(RAX, 8 * (firstEight + eight));
      }
      Snippets.broadcast(a, rows, RAX);
      a.op(VPAND, rows, rows, LANE_BITS);
      a.op(VPCMPEQD, rows, rows, LANE_BITS);
    }
  }

  /** Stores sums, which what is there is added to first where the caller wants that. */
  private void store(int count, int firstEight, Place add, Place store) {
    Label plain = new Label();
    a.mov(RAX, R9);
    a.shr(RAX, Integer.SIZE);
    a.test(RAX, RAX);
    a.jump(Condition.EQUAL, plain);
    eachPlace(count, firstEight, add);
    a.place(plain);
    eachPlace(count, firstEight, store);
  }

  /** Something for a token's sum of eight rows. */
  @FunctionalInterface
  private interface Sum {
    void write(int token, int eight);
  }

  private void eachSum(int count, Sum body) {
    for (int token = 0; token < count; token++) {
      for (int eight = 0; eight < EIGHTS; eight++) {
        body.write(token, eight);
      }
    }
  }

  /** Something for a sum of eight rows: the lanes that count, and its place in y. */
  @FunctionalInterface
  private interface Place {
    void write(Vec sum, Vec rows, Mem place);
  }

  private void eachPlace(int count, int firstEight, Place body) {
    a.mov(RBX, RDX);
    for (int token = 0; token < count; token++) {
      for (int eight = 0; eight < EIGHTS; eight++) {
        body.write(sum(token, eight), ofRows(eight), at(RBX, EIGHT * (firstEight + eight)));
      }
      a.add(RBX, RCX);
    }
  }
}
