package io.steelyard.kernels.avx2;

import io.steelyard.kernels.Activation;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.machine.Cpu;
import io.steelyard.kernels.machine.FewFormat;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.Product;

/**
 * The machine code of the AVX2 tier. AVX-512 takes part of it, too.
 *
 * <p>Activations become whole numbers where weights in blocks are: of 8 bits where those become
 * unsigned ones of at most 6, as MXFP4's levels do, whose products add up in 16 bits, and for few
 * tokens of all but Q8_0; of 16 bits for Q8_0 and for many tokens of IQ4_NL and IQ4_XS, for which
 * bytes gain nothing.
 */
public class Avx2 extends MachineCode {
  /** Whether this processor has all that the tier needs, and the system allows machine code. */
  public static boolean available() {
    return Cpu.features().contains(Cpu.Feature.AVX2);
  }

  /** What of it this processor has. */
  public static String description() {
    return Cpu.features().contains(Cpu.Feature.AVX_VNNI) ? "avx2 fma vnni" : "avx2 fma";
  }

  /** Why the tier can't run here, in half a sentence. */
  public static String obstacle() {
    return Cpu.obstacle().isEmpty()
        ? "this processor lacks AVX2, FMA, F16C or BMI2"
        : Cpu.obstacle();
  }

  /** Whether functions may use AVX-VNNI: where this processor has it, unless tests say. */
  protected boolean vnni() {
    return Cpu.features().contains(Cpu.Feature.AVX_VNNI);
  }

  @Override
  public Product product(DataType type) {
    return switch (type) {
      case F32, F16, BF16, FP8_E4M3, FP8_E5M2, NF4, FP4 -> Product.F32;
      case Q6_K -> Product.SIX_BITS;
      // Whose levels are from -12 to 12.
      case MXFP4 -> Product.UNSIGNED;
      case Q8_0, IQ4_NL, IQ4_XS -> Product.WORDS;
      default -> {
        if (FewUnsigned.takes(type)) {
          yield Product.UNSIGNED;
        }
        throw unsupported(type);
      }
    };
  }

  @Override
  public long panelBytes(Product product) {
    return product == Product.F32 ? NarrowProduct.PANEL_BYTES : Long.MAX_VALUE;
  }

  /** Processors without AVX-512 have 256 or 512 KB. */
  @Override
  public long cacheBytes() {
    return 200_000;
  }

  @Override
  public int fewTokens(DataType type) {
    return type == DataType.Q8_0 ? FewTokens.TOKENS_OF_BYTES : FewTokens.TOKENS;
  }

  @Override
  public int fewRows() {
    return 1;
  }

  @Override
  public FewFormat fewFormat(DataType type) {
    return FewUnsigned.takes(type) || Levels.has(type) || type == DataType.Q6_K
        ? ByteActivations.FORMAT
        : FewActivations.FORMAT;
  }

  @Override
  protected Function make(Single which) {
    return switch (which) {
      case CALLS -> Calls.function();
      case FEW_ACTIVATIONS -> FewActivations.function();
      case FEW_BYTES -> ByteActivations.function();
      case TRANSPOSE -> Transpose.values();
      case ADD -> Elementwise.add();
      case MULTIPLY -> Elementwise.multiply();
      case SILU_GATE -> Elementwise.gate(Activation.SILU);
      case GELU_GATE -> Elementwise.gate(Activation.GELU);
      case SILU -> Elementwise.activation(Activation.SILU);
      case GELU -> Elementwise.activation(Activation.GELU);
      case SOFT_CAP -> Elementwise.softCap();
      case RMS_NORM -> Elementwise.rmsNorm();
      case LAYER_NORM -> Elementwise.layerNorm();
      case SCALE -> Elementwise.scale();
      case ADD_SCALED -> Elementwise.addScaled();
      case WORDS -> Widen.function();
      case FROM_F16 -> Elementwise.widen(DataType.F16);
      case FROM_BF16 -> Elementwise.widen(DataType.BF16);
      case FROM_FP8_E4M3 -> Elementwise.widen(DataType.FP8_E4M3);
      case FROM_FP8_E5M2 -> Elementwise.widen(DataType.FP8_E5M2);
      case FROM_NF4 -> Elementwise.widenLevels(DataType.NF4);
      case FROM_FP4 -> Elementwise.widenLevels(DataType.FP4);
      case STORE_KEY_F32 -> CacheStore.key(DataType.F32);
      case STORE_KEY_F16 -> CacheStore.key(DataType.F16);
      case STORE_KEY_Q8_0 -> CacheStore.key(DataType.Q8_0);
      case STORE_VALUE_F32 -> CacheStore.value(DataType.F32);
      case STORE_VALUE_F16 -> CacheStore.value(DataType.F16);
      case STORE_VALUE_Q8_0 -> CacheStore.value(DataType.Q8_0);
      case WIDEN_KEYS -> CacheBytes.widenKeys();
      case WIDEN_VALUES -> CacheBytes.widenValues();
      case ROPE_INTERLEAVED -> Elementwise.ropeInterleaved();
      case ROPE_SPLIT -> Elementwise.ropeSplit();
      case SOFTMAX -> Softmax.narrow();
    };
  }

  @Override
  protected Function makeProduct(Product product, int tokens) {
    return NarrowProduct.of(product, tokens, vnni());
  }

  @Override
  protected Function makeTile(Product product) {
    return product.isInteger() ? IntegerTile.of(product) : FloatTile.function();
  }

  @Override
  protected Function makeUnpack(DataType type) {
    Product product = product(type);
    return Unpack.of(type, product == Product.UNSIGNED || product == Product.SIX_BITS);
  }

  @Override
  protected Function makeFew(DataType type, int tokens) {
    if (FewUnsigned.takes(type)) {
      return FewUnsigned.of(type, tokens);
    }
    if (type == DataType.Q6_K) {
      return FewSixBits.of(tokens);
    }
    if (FloatLevels.has(type)) {
      return FewFloatLevels.of(type, tokens);
    }
    return Levels.has(type)
        ? FewLevels.of(type, tokens, vnni())
        : FewTokens.of(type, tokens, vnni());
  }

  @Override
  protected Function makeTransposeBytes(Product product) {
    throw new IllegalArgumentException("the products of AVX2 take no panels of " + product);
  }

  @Override
  protected Function makeTransposeConstants(Product product) {
    return Transpose.constants(product);
  }
}
