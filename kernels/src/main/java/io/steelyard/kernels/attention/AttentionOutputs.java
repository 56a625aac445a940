package io.steelyard.kernels.attention;

import io.steelyard.kernels.AttentionBand;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Rows;
import io.steelyard.kernels.StridedRows;
import io.steelyard.kernels.machine.SystemMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Results of attention.
 *
 * @param type of the results
 * @param out as [batch][length][heads][dimension]
 * @param logSums the logarithm of each row's sum of {@code exp(score)}, float32 as
 *     [batch][heads][length]
 */
public record AttentionOutputs(
    AttentionShape shape, DataType type, MemorySegment out, MemorySegment logSums) {
  public AttentionOutputs {
    AttentionInputs.require(type);
    AttentionInputs.require("results", out, type.bytes(shape.queryValues()));
    AttentionInputs.require("sums", logSums, sumBytes(shape));
  }

  /** Memory for results. */
  public static AttentionOutputs allocate(Arena arena, AttentionShape shape, DataType type) {
    AttentionInputs.require(type);
    return new AttentionOutputs(
        shape,
        type,
        SystemMemory.zeros(arena, type.bytes(shape.queryValues()), Rows.ALIGNMENT),
        SystemMemory.zeros(arena, sumBytes(shape), Rows.ALIGNMENT));
  }

  /** Bytes of results and sums. */
  public static long bytes(AttentionShape shape, DataType type) {
    return type.bytes(shape.queryValues()) + sumBytes(shape);
  }

  private static long sumBytes(AttentionShape shape) {
    return (long) Float.BYTES * shape.batch() * shape.heads() * shape.length();
  }

  /** A head's results of a sequence. */
  public StridedRows rows(int batch, int head) {
    return shape.rows(out, type, batch, head, shape.heads());
  }

  /** The address of a head's sums. */
  public long logSums(int batch, int head) {
    return logSums.address()
        + (long) Float.BYTES * ((long) batch * shape.heads() + head) * shape.length();
  }

  /** Bytes of a row of a head: its values and its sum. */
  long rowBytes() {
    return type.bytes(shape.dimension()) + Float.BYTES;
  }

  /** Writes the result of a query that sees no key. */
  void clear(int batch, int head, int query) {
    long rowBytes = type.bytes(shape.dimension());
    long row = ((long) batch * shape.length() + query) * shape.heads() + head;
    out.asSlice(row * rowBytes, rowBytes).fill((byte) 0);
    long sum = ((long) batch * shape.heads() + head) * shape.length() + query;
    logSums.setAtIndex(ValueLayout.JAVA_FLOAT, sum, AttentionBand.NO_KEYS);
  }
}
