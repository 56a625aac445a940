package io.steelyard.models.gguf;

import java.util.Locale;
import java.util.Optional;

/** Types of metadata values, numbered as in the file. */
public enum ValueType {
  UINT8(0, 1),
  INT8(1, 1),
  UINT16(2, 2),
  INT16(3, 2),
  UINT32(4, 4),
  INT32(5, 4),
  FLOAT32(6, 4),
  BOOL(7, 1),
  STRING(8, 8),
  ARRAY(9, 12),
  UINT64(10, 8),
  INT64(11, 8),
  FLOAT64(12, 8);

  private static final ValueType[] BY_ID = values();

  private final int id;
  private final int leastBytes;

  ValueType(int id, int leastBytes) {
    this.id = id;
    this.leastBytes = leastBytes;
  }

  /** The type's number in a file. */
  public int id() {
    return id;
  }

  /** Bytes of one value; for strings and arrays, those of an empty one. */
  int leastBytes() {
    return leastBytes;
  }

  /** Whether every value takes the same number of bytes. */
  boolean fixedSize() {
    return this != STRING && this != ARRAY;
  }

  /** Whether values are whole numbers. */
  public boolean integral() {
    return switch (this) {
      case UINT8, INT8, UINT16, INT16, UINT32, INT32, UINT64, INT64 -> true;
      case FLOAT32, FLOAT64, BOOL, STRING, ARRAY -> false;
    };
  }

  /** The spelling in messages: {@code uint32}, {@code string}. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  static Optional<ValueType> ofId(int id) {
    return id >= 0 && id < BY_ID.length ? Optional.of(BY_ID[id]) : Optional.empty();
  }
}
