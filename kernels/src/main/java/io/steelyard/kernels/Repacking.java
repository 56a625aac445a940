package io.steelyard.kernels;

import static io.steelyard.kernels.ThreadTeam.share;

import io.steelyard.kernels.codec.Repacker;
import io.steelyard.kernels.machine.SystemMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Writes tensors of types without machine code as others that have it, once, when a model is
 * loaded. The memory is freed when the matrix is no longer in use.
 */
final class Repacking {
  private Repacking() {}

  /** The matrix, of which every part is held as a type with machine code. */
  static StackedMatrix of(StackedMatrix matrix, ThreadTeam team) {
    List<Tensor> held = new ArrayList<>();
    long owned = 0;
    for (Tensor part : matrix.parts()) {
      if (Repacker.target(part.type()) == part.type()) {
        held.add(part);
      } else {
        Tensor own = repacked(part, team);
        held.add(own);
        owned += own.data().byteSize();
      }
    }
    return owned == 0 ? matrix : matrix.heldAs(held, owned);
  }

  private static Tensor repacked(Tensor tensor, ThreadTeam team) {
    Tensor compact = allocate(tensor, Repacker.target(tensor.type()));
    if (write(tensor, compact, team)) {
      return compact;
    }
    Tensor exact = allocate(tensor, DataType.F32);
    write(tensor, exact, team);
    return exact;
  }

  private static Tensor allocate(Tensor tensor, DataType type) {
    long bytes = Math.multiplyExact(tensor.rows(), type.bytes(tensor.columns()));
    MemorySegment data = SystemMemory.allocate(Arena.ofAuto(), bytes);
    return new Tensor(tensor.name(), type, tensor.columns(), tensor.rows(), data);
  }

  /** Writes all rows; says if the target can hold them. */
  private static boolean write(Tensor from, Tensor to, ThreadTeam team) {
    int rows = Math.toIntExact(from.rows());
    int columns = Math.toIntExact(from.columns());
    AtomicBoolean fits = new AtomicBoolean(true);
    team.run(
        (member, members) -> {
          Repacker repacker =
              to.type() == DataType.F32
                  ? Repacker.toFloat32(from.type())
                  : Repacker.of(from.type());
          int end = share(rows, member + 1, members);
          for (int row = share(rows, member, members); row < end && fits.get(); row++) {
            long offset = row * from.rowBytes();
            if (!repacker.repack(from.data(), offset, columns, to.data(), row * to.rowBytes())) {
              fits.set(false);
            }
          }
        });
    return fits.get();
  }
}
