package io.steelyard.kernels.amx;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.avx512.Avx512;
import io.steelyard.kernels.machine.Cpu;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.TileCode;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** The machine code of the AMX tier: AVX-512's, and work on many tokens in tiles. */
public class Amx extends Avx512 implements TileCode {
  private final Map<DataType, Function> weights = new EnumMap<>(DataType.class);
  private final Map<DataType, Function> panels = new EnumMap<>(DataType.class);
  private final Function[] activations = new Function[2];
  private final Function[] products = new Function[2];
  private final Map<TilePart, Function> parts = new EnumMap<>(TilePart.class);

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
    if (!weights.containsKey(type)) {
      weights.put(type, ready(TileWeights.of(type)));
    }
    return weights.get(type);
  }

  @Override
  public Function panels(DataType type) {
    if (!panels.containsKey(type)) {
      panels.put(type, ready(TilePanels.of(type)));
    }
    return panels.get(type);
  }

  @Override
  public Function activations(boolean split) {
    int index = split ? 1 : 0;
    if (activations[index] == null) {
      activations[index] = ready(TileActivations.of(split));
    }
    return activations[index];
  }

  @Override
  public Function product(boolean split) {
    int index = split ? 1 : 0;
    if (products[index] == null) {
      products[index] = ready(makeProduct(split));
    }
    return products[index];
  }

  /** Assembles {@link #product}. */
  protected Function makeProduct(boolean split) {
    return TileProduct.of(split);
  }

  @Override
  public Function part(TilePart part) {
    if (!parts.containsKey(part)) {
      parts.put(
          part,
          ready(
              switch (part) {
                case RESULTS -> TileResults.function();
                case QUERY -> TileQuery.function();
                case SOFTMAX -> TileSoftmax.function();
                case ATTENDED -> TileAttended.function();
              }));
    }
    return parts.get(part);
  }
}
