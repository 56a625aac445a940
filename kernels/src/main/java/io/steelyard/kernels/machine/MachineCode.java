package io.steelyard.kernels.machine;

import io.steelyard.kernels.DataType;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The functions of a machine-code tier, each assembled when it is first asked for. What a function
 * computes and takes is said where it is written. For one caller at a time; the functions may be
 * called by any thread.
 */
public abstract class MachineCode {
  private final Map<Product, Function[]> products = new EnumMap<>(Product.class);
  private final Map<DataType, Function[]> few = new EnumMap<>(DataType.class);
  private final Map<Product, Function> tiles = new EnumMap<>(Product.class);
  private final Map<Product, Function> byteColumns = new EnumMap<>(Product.class);
  private final Map<Product, Function> constantColumns = new EnumMap<>(Product.class);
  private final Map<DataType, Function> unpacks = new EnumMap<>(DataType.class);
  private final Map<Single, Function> single = new EnumMap<>(Single.class);

  /** Functions of which there is one each. */
  public enum Single {
    /** Makes calls that are listed in memory. */
    CALLS,
    /** Activations of one token as {@link #few} takes them. */
    FEW_ACTIVATIONS,
    /** The same for some types, as bytes. */
    FEW_BYTES,
    /** 16 rows as half of a panel, but for bytes. */
    TRANSPOSE,
    ADD,
    MULTIPLY,
    SILU_GATE,
    GELU_GATE,
    SILU,
    GELU,
    SOFT_CAP,
    RMS_NORM,
    LAYER_NORM,
    SCALE,
    ADD_SCALED,
    /** Bytes that become words. */
    WORDS,
    FROM_F16,
    FROM_BF16,
    FROM_FP8_E4M3,
    FROM_FP8_E5M2,
    FROM_NF4,
    FROM_FP4,
    STORE_KEY_F32,
    STORE_KEY_F16,
    STORE_KEY_Q8_0,
    STORE_VALUE_F32,
    STORE_VALUE_F16,
    STORE_VALUE_Q8_0,
    WIDEN_KEYS,
    WIDEN_VALUES,
    ROPE_INTERLEAVED,
    ROPE_SPLIT,
    SOFTMAX
  }

  /** Makes what has no functions yet. */
  protected MachineCode() {
    for (Product product : Product.values()) {
      products.put(product, new Function[product.tokens() + 1]);
    }
    for (DataType type : DataType.values()) {
      few.put(type, new Function[fewTokens(type) + 1]);
    }
  }

  /** The most tokens of a call of {@link #few} for a type. */
  public abstract int fewTokens(DataType type);

  /** Rows that a call of {@link #few} multiplies at a time. */
  public abstract int fewRows();

  /** How {@link #few} of a type with blocks takes activations. */
  public abstract FewFormat fewFormat(DataType type);

  /** The product that multiplies a type's weights with many tokens. */
  public abstract Product product(DataType type);

  /** What a panel may take, so that {@link #product} of many tokens is fast. */
  public abstract long panelBytes(Product product);

  /** What the panels of some groups of rows together may take of the second-level cache. */
  public long cacheBytes() {
    return 400_000;
  }

  /** The product of many tokens in tiles, where the tier has that. */
  public Optional<TileCode> tiles() {
    return Optional.empty();
  }

  /** The panels of bytes that a type with blocks would have. */
  public static Product bytesOf(DataType type) {
    return switch (type) {
      case Q8_0, Q4_0, Q5_0, IQ4_NL, IQ4_XS, MXFP4 -> Product.BYTES;
      case Q4_1, Q5_1, Q4_K, Q5_K -> Product.BYTES_OFFSET;
      case Q6_K -> Product.BYTES_HALVES;
      default -> throw unsupported(type);
    };
  }

  /** What makes float32 of a type's values. */
  public static Single widening(DataType type) {
    return switch (type) {
      case F16 -> Single.FROM_F16;
      case BF16 -> Single.FROM_BF16;
      case FP8_E4M3 -> Single.FROM_FP8_E4M3;
      case FP8_E5M2 -> Single.FROM_FP8_E5M2;
      case NF4 -> Single.FROM_NF4;
      case FP4 -> Single.FROM_FP4;
      default -> throw unsupported(type);
    };
  }

  /** What a function of a type is refused with that has none: such weights must be repacked. */
  public static IllegalArgumentException unsupported(DataType type) {
    return new IllegalArgumentException("no machine code takes " + type + " as it is stored");
  }

  /** What is done to each function before it is used: nothing, unless tests emulate it. */
  protected Function ready(Function made) {
    return made;
  }

  protected abstract Function make(Single which);

  protected abstract Function makeProduct(Product product, int tokens);

  protected abstract Function makeTile(Product product);

  protected abstract Function makeTransposeBytes(Product product);

  protected abstract Function makeTransposeConstants(Product product);

  protected abstract Function makeUnpack(DataType type);

  protected abstract Function makeFew(DataType type, int tokens);

  /** The one of this name. */
  public final Function single(Single which) {
    Function known = single.get(which);
    return known != null ? known : made(single, which, () -> make(which));
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
  public final Function product(Product product, int tokens) {
    Function[] known = products.get(product);
    if (known[tokens] == null) {
      known[tokens] = ready(makeProduct(product, tokens));
    }
    return known[tokens];
  }

  /** Writes a token's activations into a tile. */
  public final Function tile(Product product) {
    Function known = tiles.get(product);
    return known != null ? known : made(tiles, product, () -> makeTile(product));
  }

  /** 16 rows of unpacked bytes as half of a panel. */
  public final Function transposeBytes(Product product) {
    Function known = byteColumns.get(product);
    return known != null ? known : made(byteColumns, product, () -> makeTransposeBytes(product));
  }

  /** The constants of 16 rows of unpacked bytes as half of a panel's. */
  public final Function transposeConstants(Product product) {
    Function known = constantColumns.get(product);
    return known != null
        ? known
        : made(constantColumns, product, () -> makeTransposeConstants(product));
  }

  /** Unpacks rows of blocks: bytes, scales and offsets. */
  public final Function unpack(DataType type) {
    Function known = unpacks.get(type);
    return known != null ? known : made(unpacks, type, () -> makeUnpack(type));
  }

  /** Multiplies rows as they lie in the file with a few tokens. */
  public final Function few(DataType type, int tokens) {
    Function[] known = few.get(type);
    if (known[tokens] == null) {
      known[tokens] = ready(makeFew(type, tokens));
    }
    return known[tokens];
  }

  private <K> Function made(Map<K, Function> known, K key, Supplier<Function> maker) {
    Function function = ready(maker.get());
    known.put(key, function);
    return function;
  }
}
