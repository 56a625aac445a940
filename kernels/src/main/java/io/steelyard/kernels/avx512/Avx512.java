package io.steelyard.kernels.avx512;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.avx2.Avx2;
import io.steelyard.kernels.avx2.Softmax;
import io.steelyard.kernels.machine.Cpu;
import io.steelyard.kernels.machine.FewFormat;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.Product;
import java.util.Set;

/** The machine code of the AVX-512 tier: AVX2's where wider registers gain nothing. */
public class Avx512 extends Avx2 {
  private static final Set<Cpu.Feature> NEEDED =
      Set.of(Cpu.Feature.AVX512, Cpu.Feature.AVX512_VNNI, Cpu.Feature.AVX512_BF16);

  /** Whether this processor has all that the tier needs, and the system allows machine code. */
  public static boolean available() {
    return Cpu.features().containsAll(NEEDED);
  }

  /** Why the tier can't run here, in half a sentence. */
  public static String obstacle() {
    return Cpu.obstacle().isEmpty()
        ? "this processor lacks AVX-512 with VNNI and BF16"
        : Cpu.obstacle();
  }

  @Override
  public Product product(DataType type) {
    return switch (type) {
      case F32, F16, FP8_E4M3, FP8_E5M2, NF4, FP4 -> Product.F32;
      case BF16 -> Product.BF16;
      default -> bytesOf(type);
    };
  }

  /** A tile's tokens go through a panel together, so the second-level cache suffices. */
  @Override
  public long panelBytes(Product product) {
    return Long.MAX_VALUE;
  }

  @Override
  public int fewTokens(DataType type) {
    return FewTokens.TOKENS;
  }

  @Override
  public int fewRows() {
    return FewTokens.ROWS;
  }

  @Override
  public FewFormat fewFormat(DataType type) {
    return FewActivations.FORMAT;
  }

  @Override
  protected Function make(Single which) {
    return switch (which) {
      case FEW_ACTIVATIONS -> FewActivations.function();
      case TRANSPOSE -> Transpose.values();
      case SOFTMAX -> Softmax.wide();
      default -> super.make(which);
    };
  }

  @Override
  protected Function makeProduct(Product product, int tokens) {
    return WideProduct.of(product, tokens);
  }

  @Override
  protected Function makeTile(Product product) {
    return product == Product.F32 ? super.makeTile(product) : Tiles.of(product);
  }

  @Override
  protected Function makeTransposeBytes(Product product) {
    return Transpose.bytes(product);
  }

  @Override
  protected Function makeTransposeConstants(Product product) {
    return Transpose.constants(product);
  }

  @Override
  protected Function makeFew(DataType type, int tokens) {
    return FewTokens.of(type, tokens);
  }
}
