package io.steelyard.kernels.amx;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.avx512.Avx512;
import io.steelyard.kernels.machine.Cpu;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.TileCode;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** The machine code of the AMX tier: AVX-512's, and products of many tokens in tiles. */
public class Amx extends Avx512 implements TileCode {
  private final Map<DataType, Function> weights = new EnumMap<>(DataType.class);
  private final Function[] activations = new Function[2];
  private final Function[] products = new Function[2];
  private Optional<Function> results = Optional.empty();

  /**
   * Whether this processor has all that the tier needs, and the system lets this process use it.
   */
  public static boolean available() {
    return Avx512.available() && Cpu.features().contains(Cpu.Feature.AMX);
  }

  /** Why the tier can't run here, in half a sentence. */
  public static String obstacle() {
    return Avx512.available()
        ? "this processor lacks AMX with bf16, or the system does not let programs use it"
        : Avx512.obstacle();
  }

  @Override
  public Optional<TileCode> tiles() {
    return Optional.of(this);
  }

  @Override
  public boolean takes(DataType type) {
    return type != DataType.F32;
  }

  /** Float16 has more bits than bf16. */
  @Override
  public boolean splits(DataType type) {
    return type == DataType.F16;
  }

  @Override
  public Function weights(DataType type) {
    Function known = weights.get(type);
    if (known == null) {
      known = TileWeights.of(type);
      weights.put(type, known);
    }
    return known;
  }

  @Override
  public Function activations(boolean split) {
    int index = split ? 1 : 0;
    if (activations[index] == null) {
      activations[index] = TileActivations.of(split);
    }
    return activations[index];
  }

  @Override
  public Function product(boolean split) {
    int index = split ? 1 : 0;
    if (products[index] == null) {
      products[index] = makeProduct(split);
    }
    return products[index];
  }

  /** Assembles {@link #product}. */
  protected Function makeProduct(boolean split) {
    return TileProduct.of(split);
  }

  @Override
  public Function results() {
    if (results.isEmpty()) {
      results = Optional.of(TileResults.function());
    }
    return results.get();
  }
}
