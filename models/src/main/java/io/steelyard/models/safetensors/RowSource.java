package io.steelyard.models.safetensors;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;

/** Rows of a converted tensor, as elements of a stored type, put in order but not yet encoded. */
sealed interface RowSource {
  ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Type of the elements. */
  ElementType type();

  /** Values in a row. */
  long columns();

  /** Number of rows. */
  long rows();

  /**
   * Copies rows.
   *
   * @param first the first of them
   * @param count how many
   * @param to receives {@code count × rowBytes()} bytes
   */
  void copy(long first, int count, MemorySegment to);

  /** All rows where they lie as they should already. */
  default Optional<MemorySegment> whole() {
    return Optional.empty();
  }

  /** Bytes of one row. */
  default long rowBytes() {
    return columns() * type().bytes();
  }

  /** Rows as they are stored. */
  record Stored(ElementType type, long columns, long rows, MemorySegment data)
      implements RowSource {

    static Stored of(StoredTensor tensor) {
      return new Stored(tensor.type(), tensor.columns(), tensor.rows(), tensor.data());
    }

    /** A vector that no file holds. */
    static Stored of(float[] values) {
      MemorySegment data = Arena.ofAuto().allocate((long) values.length * Float.BYTES);
      MemorySegment.copy(values, 0, data, FLOAT, 0, values.length);
      return new Stored(ElementType.F32, values.length, 1, data);
    }

    /** The first rows alone. */
    Stored cut(long count) {
      return new Stored(type, columns, count, data.asSlice(0, count * rowBytes()));
    }

    @Override
    public void copy(long first, int count, MemorySegment to) {
      to.copyFrom(data.asSlice(first * rowBytes(), count * rowBytes()));
    }

    @Override
    public Optional<MemorySegment> whole() {
      return Optional.of(data);
    }
  }

  /**
   * Rows of queries or keys whose heads change from halves, of which value i turns with value i of
   * the other half, to pairs.
   */
  record HeadsInPairs(RowSource base, int heads) implements RowSource {
    @Override
    public ElementType type() {
      return base.type();
    }

    @Override
    public long columns() {
      return base.columns();
    }

    @Override
    public long rows() {
      return base.rows();
    }

    @Override
    public void copy(long first, int count, MemorySegment to) {
      long dimension = rows() / heads;
      for (int i = 0; i < count; i++) {
        long within = (first + i) % dimension;
        long from = first + i - within + within / 2 + within % 2 * (dimension / 2);
        base.copy(from, 1, to.asSlice(i * rowBytes(), rowBytes()));
      }
    }
  }

  /** Rows of one value each, as one row. */
  record AsVector(RowSource base) implements RowSource {
    @Override
    public ElementType type() {
      return base.type();
    }

    @Override
    public long columns() {
      return base.rows();
    }

    @Override
    public long rows() {
      return 1;
    }

    @Override
    public void copy(long first, int count, MemorySegment to) {
      base.copy(0, Math.toIntExact(base.rows()), to);
    }
  }

  /** Columns as rows. */
  record Transposed(Stored base) implements RowSource {
    @Override
    public ElementType type() {
      return base.type();
    }

    @Override
    public long columns() {
      return base.rows();
    }

    @Override
    public long rows() {
      return base.columns();
    }

    @Override
    public void copy(long first, int count, MemorySegment to) {
      int bytes = type().bytes();
      // Along the rows that are stored, so that each line of memory is read once.
      for (long column = 0; column < columns(); column++) {
        long from = column * base.rowBytes() + first * bytes;
        for (int row = 0; row < count; row++) {
          long at = row * rowBytes() + column * bytes;
          MemorySegment.copy(base.data(), from + (long) row * bytes, to, at, bytes);
        }
      }
    }
  }

  /** Norms that are stored less 1; float16 stays float16, anything else becomes float32. */
  record PlusOne(RowSource base) implements RowSource {
    @Override
    public ElementType type() {
      return ElementType.F32;
    }

    @Override
    public long columns() {
      return base.columns();
    }

    @Override
    public long rows() {
      return base.rows();
    }

    @Override
    public void copy(long first, int count, MemorySegment to) {
      int values = Math.toIntExact(count * columns());
      float[] row = new float[values];
      MemorySegment stored = MemorySegment.ofArray(new byte[values * base.type().bytes()]);
      base.copy(first, count, stored);
      base.type().decode(stored, row, values);
      for (int i = 0; i < values; i++) {
        row[i] += 1;
        if (base.type() == ElementType.F16) {
          row[i] = Float.float16ToFloat(Float.floatToFloat16(row[i]));
        }
      }
      MemorySegment.copy(row, 0, to, FLOAT, 0, values);
    }
  }

  /** Matrices of one shape and type, one after the other. */
  record Stacked(List<Stored> parts) implements RowSource {
    @Override
    public ElementType type() {
      return parts.getFirst().type();
    }

    @Override
    public long columns() {
      return parts.getFirst().columns();
    }

    @Override
    public long rows() {
      return parts.getFirst().rows() * parts.size();
    }

    @Override
    public void copy(long first, int count, MemorySegment to) {
      long each = parts.getFirst().rows();
      for (int i = 0; i < count; i++) {
        long row = first + i;
        parts.get((int) (row / each)).copy(row % each, 1, to.asSlice(i * rowBytes(), rowBytes()));
      }
    }
  }
}
