package io.steelyard.kernels.avx2;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.machine.Cpu;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.Product;

/** The machine code of the AVX2 tier. AVX-512 takes part of it, too. */
public class Avx2 extends MachineCode {
  /** Whether this processor has all that the tier needs, and the system allows machine code. */
  public static boolean available() {
    return Cpu.features().contains(Cpu.Feature.AVX2);
  }

  /** Why the tier can't run here, in half a sentence. */
  public static String obstacle() {
    return Cpu.obstacle().isEmpty()
        ? "this processor lacks AVX2, FMA, F16C or BMI2"
        : Cpu.obstacle();
  }

  @Override
  public int fewTokens() {
    return FewTokens.TOKENS;
  }

  @Override
  public int fewRows() {
    return 1;
  }

  @Override
  public int fewBlock() {
    return FewActivations.BLOCK;
  }

  @Override
  protected Function make(Single which) {
    return switch (which) {
      case FEW_ACTIVATIONS -> FewActivations.function();
      case TRANSPOSE -> FloatTranspose.function();
      case ADD -> Elementwise.add();
      case SILU_GATE -> Elementwise.siluGate();
      case RMS_NORM -> Elementwise.rmsNorm();
      case SCALE -> Elementwise.scale();
      case ADD_SCALED -> Elementwise.addScaled();
      case FROM_F16 -> Elementwise.widen(DataType.F16);
      case FROM_BF16 -> Elementwise.widen(DataType.BF16);
      case STORE_KEY_F32 -> CacheStore.key(false);
      case STORE_KEY_F16 -> CacheStore.key(true);
      case STORE_VALUE_F32 -> CacheStore.value(false);
      case STORE_VALUE_F16 -> CacheStore.value(true);
      case ROPE_INTERLEAVED -> Elementwise.ropeInterleaved();
      case ROPE_SPLIT -> Elementwise.ropeSplit();
      case SOFTMAX -> Softmax.narrow();
    };
  }

  @Override
  protected Function makeProduct(Product product, int tokens) {
    return FloatProduct.of(product, tokens);
  }

  @Override
  protected Function makeTile(Product product) {
    return FloatTile.function();
  }

  @Override
  protected Function makeUnpack(DataType type) {
    return Unpack.of(type);
  }

  @Override
  protected Function makeWiden(Product product) {
    return Widen.of(product);
  }

  @Override
  protected Function makeFew(DataType type, int tokens) {
    return FewTokens.of(type, tokens);
  }

  @Override
  protected Function makeTransposeBytes(Product product) {
    throw new UnsupportedOperationException("weights are multiplied as float32");
  }

  @Override
  protected Function makeTransposeConstants(Product product) {
    throw new UnsupportedOperationException("weights are multiplied as float32");
  }
}
