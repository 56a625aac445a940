package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Rows;
import io.steelyard.kernels.StridedRows;
import io.steelyard.kernels.machine.SystemMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory of inputs and results. */
final class Memory {
  private Memory() {}

  /** Large pieces only take up memory where they are used. */
  static MemorySegment allocate(Arena arena, long bytes) {
    return bytes < SystemMemory.LARGE_PAGE
        ? arena.allocate(bytes, Rows.ALIGNMENT)
        : SystemMemory.allocate(arena, bytes);
  }

  /** One head's rows of [batch][length][heads][dimension]. */
  static StridedRows rows(
      MemorySegment memory, DataType type, AttentionShape shape, int batch, int head, int heads) {
    long rowBytes = type.bytes(shape.dimension());
    long first = ((long) batch * shape.length() * heads + head) * rowBytes;
    return new StridedRows(memory.address() + first, heads * rowBytes, type);
  }
}
