package io.steelyard.kernels.avx512;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.machine.Cpu;
import io.steelyard.kernels.machine.Cpu.Feature;
import io.steelyard.kernels.machine.Function;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The machine code of the AVX-512 tier, each function assembled when it is first asked for. What a
 * function computes and takes is said where it is written. For one caller at a time; the functions
 * may be called by any thread.
 */
public final class Avx512 {
  /** The most tokens of a call of {@link #few}. */
  public static final int FEW = FewTokens.TOKENS;

  /** Rows that a call of {@link #few} multiplies at a time. */
  public static final int FEW_ROWS = FewTokens.ROWS;

  /** Bytes of a block of activations for {@link #few}. */
  public static final int FEW_BLOCK = FewActivations.BLOCK;

  private static final Set<Feature> NEEDED =
      Set.of(Feature.AVX512, Feature.AVX512_VNNI, Feature.AVX512_BF16);

  private final Map<Product, Function[]> products = new EnumMap<>(Product.class);
  private final Map<DataType, Function[]> few = new EnumMap<>(DataType.class);
  private final Map<Product, Function> tiles = new EnumMap<>(Product.class);
  private final Map<Product, Function> byteColumns = new EnumMap<>(Product.class);
  private final Map<Product, Function> constantColumns = new EnumMap<>(Product.class);
  private final Map<Product, Function> widenings = new EnumMap<>(Product.class);
  private final Map<DataType, Function> unpacks = new EnumMap<>(DataType.class);
  private final Map<Single, Function> single = new EnumMap<>(Single.class);

  /** Makes what has no functions yet. */
  public Avx512() {
    for (Product product : Product.values()) {
      products.put(product, new Function[product.tokens() + 1]);
    }
    for (DataType type : DataType.values()) {
      few.put(type, new Function[FEW + 1]);
    }
  }

  /** Functions of which there is one each. */
  public enum Single {
    /** {@link FewActivations}. */
    FEW_ACTIVATIONS,
    /** {@link Transpose#values}. */
    TRANSPOSE,
    ADD,
    SILU_GATE,
    RMS_NORM,
    SCALE,
    ADD_SCALED,
    FROM_HALF,
    /** {@link CacheStore}. */
    STORE_KEY_F32,
    STORE_KEY_F16,
    STORE_VALUE_F32,
    STORE_VALUE_F16,
    ROPE_INTERLEAVED,
    ROPE_SPLIT,
    /** {@link Softmax}. */
    SOFTMAX
  }

  private static Function make(Single which) {
    return switch (which) {
      case FEW_ACTIVATIONS -> FewActivations.function();
      case TRANSPOSE -> Transpose.values();
      case ADD -> Elementwise.add();
      case SILU_GATE -> Elementwise.siluGate();
      case RMS_NORM -> Elementwise.rmsNorm();
      case SCALE -> Elementwise.scale();
      case ADD_SCALED -> Elementwise.addScaled();
      case FROM_HALF -> Elementwise.fromHalf();
      case STORE_KEY_F32 -> CacheStore.key(false);
      case STORE_KEY_F16 -> CacheStore.key(true);
      case STORE_VALUE_F32 -> CacheStore.value(false);
      case STORE_VALUE_F16 -> CacheStore.value(true);
      case ROPE_INTERLEAVED -> Elementwise.ropeInterleaved();
      case ROPE_SPLIT -> Elementwise.ropeSplit();
      case SOFTMAX -> Softmax.function();
    };
  }

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

  /** Whether this processor has AMX too, and the system lets this process use it. */
  public static boolean hasTiles() {
    return available() && Cpu.features().contains(Feature.AMX);
  }

  /** The one of this name. */
  public Function single(Single which) {
    Function known = single.get(which);
    return known != null ? known : made(single, which, () -> make(which));
  }

  /** {@link Product#function}. */
  public Function product(Product product, int tokens) {
    Function[] known = products.get(product);
    if (known[tokens] == null) {
      known[tokens] = product.function(tokens);
    }
    return known[tokens];
  }

  /** {@link Tiles}. */
  public Function tile(Product product) {
    Function known = tiles.get(product);
    return known != null ? known : made(tiles, product, () -> Tiles.of(product));
  }

  /** {@link Transpose#bytes}. */
  public Function transposeBytes(Product product) {
    Function known = byteColumns.get(product);
    return known != null ? known : made(byteColumns, product, () -> Transpose.bytes(product));
  }

  /** {@link Transpose#constants}. */
  public Function transposeConstants(Product product) {
    Function known = constantColumns.get(product);
    return known != null
        ? known
        : made(constantColumns, product, () -> Transpose.constants(product));
  }

  /** {@link Unpack}. */
  public Function unpack(DataType type) {
    Function known = unpacks.get(type);
    return known != null ? known : made(unpacks, type, () -> Unpack.of(type));
  }

  /** {@link Widen}. */
  public Function widen(Product product) {
    Function known = widenings.get(product);
    return known != null ? known : made(widenings, product, () -> Widen.of(product));
  }

  /** {@link FewTokens}. */
  public Function few(DataType type, int tokens) {
    Function[] known = few.get(type);
    if (known[tokens] == null) {
      known[tokens] = FewTokens.of(type, tokens);
    }
    return known[tokens];
  }

  private static <K> Function made(Map<K, Function> known, K key, Supplier<Function> maker) {
    Function function = maker.get();
    known.put(key, function);
    return function;
  }
}
