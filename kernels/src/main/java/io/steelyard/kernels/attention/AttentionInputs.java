package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Rows;
import io.steelyard.kernels.StridedRows;
import io.steelyard.kernels.machine.SystemMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Queries, keys and values, each as [batch][length][heads][dimension].
 *
 * @param type {@link DataType#F32}, {@link DataType#F16} or {@link DataType#BF16}
 * @param queries off the heap, as are the others, in arenas that all threads may use
 */
public record AttentionInputs(
    AttentionShape shape,
    DataType type,
    MemorySegment queries,
    MemorySegment keys,
    MemorySegment values) {
  public AttentionInputs {
    require(type);
    require("queries", queries, type.bytes(shape.queryValues()));
    require("keys", keys, type.bytes(shape.keyValues()));
    require("values", values, type.bytes(shape.keyValues()));
  }

  /** Memory for inputs, all zero. */
  public static AttentionInputs allocate(Arena arena, AttentionShape shape, DataType type) {
    require(type);
    return new AttentionInputs(
        shape,
        type,
        SystemMemory.zeros(arena, type.bytes(shape.queryValues()), Rows.ALIGNMENT),
        SystemMemory.zeros(arena, type.bytes(shape.keyValues()), Rows.ALIGNMENT),
        SystemMemory.zeros(arena, type.bytes(shape.keyValues()), Rows.ALIGNMENT));
  }

  /** Bytes of all three. */
  public static long bytes(AttentionShape shape, DataType type) {
    return type.bytes(shape.queryValues()) + 2 * type.bytes(shape.keyValues());
  }

  static void require(DataType type) {
    if (type != DataType.F32 && type != DataType.F16 && type != DataType.BF16) {
      throw new IllegalArgumentException("attention takes f32, f16 or bf16, not " + type);
    }
  }

  static void require(String what, MemorySegment memory, long bytes) {
    if (!memory.isNative() || memory.byteSize() != bytes) {
      throw new IllegalArgumentException(
          "%s must be %d bytes off the heap, not %d%s"
              .formatted(what, bytes, memory.byteSize(), memory.isNative() ? "" : " on it"));
    }
  }

  /** A head's queries of a sequence. */
  public StridedRows queries(int batch, int head) {
    return shape.rows(queries, type, batch, head, shape.heads());
  }

  /** The keys of a head of keys and values. */
  public StridedRows keys(int batch, int kvHead) {
    return shape.rows(keys, type, batch, kvHead, shape.kvHeads());
  }

  /** The values of a head of keys and values. */
  public StridedRows values(int batch, int kvHead) {
    return shape.rows(values, type, batch, kvHead, shape.kvHeads());
  }
}
