package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Op.VBROADCASTI64X4;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VINSERTI64X4;
import static io.steelyard.kernels.assembler.Op.VMOVDQU32;
import static io.steelyard.kernels.assembler.Op.VPANDD;
import static io.steelyard.kernels.assembler.Op.VPDPBUSD;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPTERNLOGD;
import static io.steelyard.kernels.assembler.Vec.zmm;
import static io.steelyard.kernels.avx512.FewTokens.PRODUCT;
import static io.steelyard.kernels.avx512.FewTokens.ROWS;
import static io.steelyard.kernels.avx512.FewTokens.SCRATCH;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Op;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.Snippets;

/**
 * {@link FewTokens} of types with blocks of 256 weights, in eight runs of 32. A row's scales are
 * multiplied with those of the activations once a block.
 */
abstract class FewLargeBlocks implements FewTokens.Body {
  /** The runs of a register's halves. */
  record Runs(int first, int second) {}

  static final int RUNS = 8;

  /** Of three bits a, b and c: a or (b and c). */
  static final int OR_OF_AND = 0xF8;

  final Assembler a;
  final FewTokens of;
  final Mem bits;
  private final int blockBytes;

  FewLargeBlocks(Assembler a, FewTokens of, DataType type) {
    this.a = a;
    this.of = of;
    blockBytes = type.blockBytes();
    bits = of.bytesOf(0x0F);
  }

  @Override
  public void group() {
    Label block = a.loop();
    of.prefetch(blockBytes);
    block();
    of.advance(blockBytes, RUNS);
    a.sub(RBP, 1);
    a.jump(Condition.NOT_EQUAL, block);
  }

  /** Multiplies a block of each row. */
  abstract void block();

  /** How far 2-byte words of a register's halves are moved. */
  final Mem shifts(int first, int second) {
    long low = first * 0x0001_0001_0001_0001L;
    long high = second * 0x0001_0001_0001_0001L;
    return of.longs(low, low, low, low, high, high, high, high);
  }

  /** The low nibbles of 64 bytes, or the high ones where the number is odd. */
  final void nibbles(Vec to, Mem from, int number) {
    a.op(VMOVDQU32, to, from);
    if (number % 2 == 1) {
      a.op(VPSRLW_IMM, to, to, 4);
    }
    a.op(VPANDD, to, to, of.held(bits, SCRATCH));
  }

  /**
   * Puts bits above nibbles.
   *
   * @param from 32 bytes that hold such bits of both halves' weights
   * @param shift how their 2-byte words are moved
   * @param by how far, in either half
   * @param selected the bits that are meant
   */
  final void upperBits(Vec weights, Mem from, Op shift, Mem by, Mem selected) {
    a.op(VBROADCASTI64X4, SCRATCH, from);
    a.op(shift, SCRATCH, SCRATCH, by);
    a.op(VPTERNLOGD, weights, SCRATCH, of.held(selected, zmm(28)), OR_OF_AND);
  }

  /**
   * Multiplies the weights of registers 16 to 19, two runs each, and adds.
   *
   * @param lanes which of a row's {@link FewTokens#scaled} each lane is multiplied with
   */
  final void multiply(Runs runs, Mem lanes) {
    Vec scale = zmm(27);
    for (int token = 0; token < of.tokens(); token++) {
      activations(zmm(24), token, runs);
      for (int row = 0; row < ROWS; row++) {
        Snippets.clear(a, PRODUCT);
        a.op(VPDPBUSD, PRODUCT, zmm(16 + row), zmm(24));
        a.op(VCVTDQ2PS, PRODUCT, PRODUCT);
        a.op(VPERMPS, scale, of.held(lanes, zmm(26)), of.scaled(token, row));
        a.op(VFMADD231PS, of.sum(token, row), PRODUCT, scale);
      }
    }
  }

  private void activations(Vec to, int token, Runs runs) {
    Mem first = of.activations(token, FewActivations.BLOCK * runs.first());
    if (runs.second() == runs.first() + 1) {
      a.op(VMOVDQU32, to, first);
    } else {
      Mem second = of.activations(token, FewActivations.BLOCK * runs.second());
      a.op(VMOVDQU32, to.as(32), first);
      a.op(VINSERTI64X4, to, to, second, 1);
    }
  }
}
