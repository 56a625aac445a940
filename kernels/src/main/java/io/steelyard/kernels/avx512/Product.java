package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mask.K1;
import static io.steelyard.kernels.assembler.Mask.K2;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VDPBF16PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMOVDQU32;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTD;
import static io.steelyard.kernels.assembler.Op.VPDPBUSD;
import static io.steelyard.kernels.assembler.Op.VPXORD;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Op;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;
import java.util.Optional;

/**
 * Products of a panel of 32 rows with a tile of a few tokens, all of both in registers: {@code
 * y[t][r] (+)= Σ panel[k][r] · tile[t][k]}. Lanes are rows, so nothing is ever summed across lanes.
 *
 * <p>A <em>chunk</em> is what eight 4-byte steps along k cover: 32 values of a byte, 16 of bf16, 8
 * of float32. A panel holds, chunk by chunk, 8 steps × 32 rows × 4 bytes, then the chunk's
 * constants, each one for 32 rows. A tile holds, chunk by chunk, 32 bytes for each of its tokens,
 * then the chunk's constants.
 */
public enum Product {
  /**
   * Bytes: one scale for 32 values. A chunk's constants are {@code -128 · Σ weights} as int32 and
   * the scale; a tile's are scale and sum of each token. Activations are unsigned, 128 more than
   * their value.
   */
  BYTES(6, 1024 + 2 * 128),
  /** Bytes with an offset: the constants continue with what is added to every weight. */
  BYTES_OFFSET(6, 1024 + 3 * 128),
  /** Bytes with one scale for 16 values: constants of the first half, then of the second. */
  BYTES_HALVES(6, 1024 + 4 * 128),
  /** Pairs of bf16. */
  BF16(12, 1024),
  /** Pairs of bf16 in AMX tiles; a chunk has 16 steps. Its panels are those of {@link #BF16}. */
  TILES(32, 2048),
  F32(12, 1024),
  /** A panel of float16, which halves it, with a tile of float32. */
  F16(12, 512);

  /** Rows of a panel: two registers. */
  public static final int ROWS = 32;

  /** Steps of a chunk. */
  static final int STEPS = 8;

  /** Places of a chunk's constants in a panel, and how far behind those of a second half are. */
  static final int SUMS = 1024;

  public static final int SCALES = SUMS + 128;
  public static final int OFFSETS = SCALES + 128;
  static final int SECOND_HALF = 256;

  private final int tokens;
  private final int panelChunk;

  Product(int tokens, int panelChunk) {
    this.tokens = tokens;
    this.panelChunk = panelChunk;
  }

  /** The most tokens of a tile; a tile has room for so many even where it has fewer. */
  public int tokens() {
    return tokens;
  }

  /** Bytes of a panel's chunk. */
  public int panelChunk() {
    return panelChunk;
  }

  /** Bytes of a tile's chunk. */
  public int tileChunk() {
    return isBytes() ? 256 : tokenBytes() * tokens;
  }

  /** Bytes of a token's values in a tile's chunk. */
  public int tokenBytes() {
    return this == TILES ? 64 : 32;
  }

  /** Values that a chunk covers along k. */
  public int chunkValues() {
    return switch (this) {
      case BYTES, BYTES_OFFSET, BYTES_HALVES, TILES -> 32;
      case BF16 -> 16;
      case F32, F16 -> 8;
    };
  }

  /** Whether weights and activations are bytes. */
  public boolean isBytes() {
    return this == BYTES || this == BYTES_OFFSET || this == BYTES_HALVES;
  }

  /** Place of a token's scale in a chunk of a tile of bytes. */
  public static int tileScale(int token) {
    return 6 * 32 + 4 * token;
  }

  static int tileSum(int token) {
    return 6 * 32 + 32 + 4 * token;
  }

  /**
   * The product with a tile of exactly so many tokens. Its arguments:
   *
   * <ol>
   *   <li>panel
   *   <li>tile
   *   <li>y
   *   <li>bytes from one token's row of y to the next
   *   <li>chunks, at least 1
   *   <li>bits 0 to 31: which rows are written; bit 32: add to what y holds
   * </ol>
   */
  public Function function(int count) {
    if (count < 1 || count > tokens) {
      throw new IllegalArgumentException("no tile of " + count + " tokens");
    }
    return this == TILES ? TileProduct.of(count) : Function.of(a -> new Body(a, count).write());
  }

  /** Writes one function. Float32 sums are in the upper half of what registers are used. */
  private final class Body {
    private final Assembler a;
    private final int count;

    Body(Assembler a, int count) {
      this.a = a;
      this.count = count;
    }

    /** Float32 sums. */
    private Vec sum(int token, int half) {
      return zmm((isBytes() ? 12 : 0) + 2 * token + half);
    }

    /** Int32 sums of a chunk. */
    private Vec chunkSum(int token, int half) {
      return zmm(2 * token + half);
    }

    void write() {
      for (int token = 0; token < count; token++) {
        for (int half = 0; half < 2; half++) {
          clear(sum(token, half));
        }
      }
      Label chunk = a.loop();
      if (isBytes()) {
        bytes();
      } else {
        floats();
      }
      a.add(RDI, panelChunk);
      a.add(RSI, tileChunk());
      a.sub(R8, 1);
      a.jump(Condition.NOT_EQUAL, chunk);
      store();
    }

    private void clear(Vec register) {
      a.op(VPXORD, register, register, register);
    }

    private void bytes() {
      Vec first = zmm(24);
      Vec second = zmm(25);
      int runs = Product.this == BYTES_HALVES ? 2 : 1;
      for (int run = 0; run < runs; run++) {
        int constants = run * SECOND_HALF;
        for (int half = 0; half < 2; half++) {
          a.op(VMOVDQU32, chunkSum(0, half), at(RDI, SUMS + constants + 64 * half));
          for (int token = 1; token < count; token++) {
            a.op(VMOVDQU32, chunkSum(token, half), chunkSum(0, half));
          }
        }
        for (int step = run * STEPS / runs; step < (run + 1) * STEPS / runs; step++) {
          a.op(VMOVDQU32, first, at(RDI, 128 * step));
          a.op(VMOVDQU32, second, at(RDI, 128 * step + 64));
          for (int token = 0; token < count; token++) {
            Vec activation = zmm(26 + token % 2);
            a.op(VPBROADCASTD, activation, at(RSI, 32 * token + 4 * step));
            a.op(VPDPBUSD, chunkSum(token, 0), activation, first);
            a.op(VPDPBUSD, chunkSum(token, 1), activation, second);
          }
        }
        scale(constants, first, second);
      }
      if (Product.this == BYTES_OFFSET) {
        a.op(VMOVUPS, first, at(RDI, OFFSETS));
        a.op(VMOVUPS, second, at(RDI, OFFSETS + 64));
        for (int token = 0; token < count; token++) {
          a.broadcast(VFMADD231PS, sum(token, 0), first, at(RSI, tileSum(token)));
          a.broadcast(VFMADD231PS, sum(token, 1), second, at(RSI, tileSum(token)));
        }
      }
    }

    /** Turns a chunk's whole numbers into float32 and adds them. */
    private void scale(int constants, Vec first, Vec second) {
      a.op(VMOVUPS, first, at(RDI, SCALES + constants));
      a.op(VMOVUPS, second, at(RDI, SCALES + constants + 64));
      for (int token = 0; token < count; token++) {
        for (int half = 0; half < 2; half++) {
          Vec scale = zmm(26 + (2 * token + half) % 4);
          a.broadcast(VMULPS, scale, half == 0 ? first : second, at(RSI, tileScale(token)));
          a.op(VCVTDQ2PS, chunkSum(token, half), chunkSum(token, half));
          a.op(VFMADD231PS, sum(token, half), scale, chunkSum(token, half));
        }
      }
    }

    private void floats() {
      Vec first = zmm(24);
      Vec second = zmm(25);
      Op product = Product.this == BF16 ? VDPBF16PS : VFMADD231PS;
      for (int step = 0; step < STEPS; step++) {
        if (Product.this == F16) {
          a.op(VCVTPH2PS, first, at(RDI, 64 * step));
          a.op(VCVTPH2PS, second, at(RDI, 64 * step + 32));
        } else {
          a.op(VMOVUPS, first, at(RDI, 128 * step));
          a.op(VMOVUPS, second, at(RDI, 128 * step + 64));
        }
        for (int token = 0; token < count; token++) {
          Vec activation = zmm(26 + token % 4);
          a.op(VBROADCASTSS, activation, at(RSI, 32 * token + 4 * step));
          a.op(product, sum(token, 0), first, activation);
          a.op(product, sum(token, 1), second, activation);
        }
      }
    }

    private void store() {
      a.kmovd(K1, R9);
      a.shr(R9, 16);
      a.kmovd(K2, R9);
      a.shr(R9, 16);
      Label plain = new Label();
      a.test(R9, R9);
      a.jump(Condition.EQUAL, plain);
      eachToken(Optional.of(VADDPS));
      Label end = new Label();
      a.jmp(end);
      a.place(plain);
      eachToken(Optional.empty());
      a.place(end);
    }

    private void eachToken(Optional<Op> before) {
      for (int token = 0; token < count; token++) {
        Mem low = at(RDX);
        Mem high = at(RDX, 64);
        if (before.isPresent()) {
          a.zero(K1).op(before.get(), sum(token, 0), sum(token, 0), low);
          a.zero(K2).op(before.get(), sum(token, 1), sum(token, 1), high);
        }
        a.merge(K1).op(VMOVUPS_STORE, low, sum(token, 0));
        a.merge(K2).op(VMOVUPS_STORE, high, sum(token, 1));
        a.add(RDX, RCX);
      }
    }
  }
}
