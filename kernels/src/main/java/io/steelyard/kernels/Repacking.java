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
 * loaded.
 */
final class Repacking {
  private final ThreadTeam team;
  private final Arena arena;
  private long owned;

  private Repacking(ThreadTeam team, Arena arena) {
    this.team = team;
    this.arena = arena;
  }

  /**
   * The matrix, of which every part is held as a type with machine code.
   *
   * @param arena owns what is written
   */
  static StackedMatrix of(StackedMatrix matrix, ThreadTeam team, Arena arena) {
    return new Repacking(team, arena).repacked(matrix);
  }

  private StackedMatrix repacked(StackedMatrix matrix) {
    List<Tensor> held = new ArrayList<>();
    for (Tensor part : matrix.parts()) {
      if (Repacker.target(part.type()) == part.type()) {
        held.add(part);
      } else {
        held.add(repacked(part));
      }
    }
    return owned == 0 ? matrix : matrix.heldAs(held, owned);
  }

  private Tensor repacked(Tensor tensor) {
    DataType target = Repacker.target(tensor.type());
    if (tensor.columns() % target.blockSize() == 0) {
      Tensor compact = allocate(tensor, target);
      if (write(tensor, compact)) {
        return compact;
      }
    }
    Tensor exact = allocate(tensor, DataType.F32);
    write(tensor, exact);
    return exact;
  }

  private Tensor allocate(Tensor tensor, DataType type) {
    long bytes = Math.multiplyExact(tensor.rows(), type.bytes(tensor.columns()));
    MemorySegment data = SystemMemory.allocate(arena, bytes);
    owned += bytes;
    return new Tensor(tensor.name(), type, tensor.columns(), tensor.rows(), data);
  }

  /** Writes all rows; says if the target can hold them. */
  private boolean write(Tensor from, Tensor to) {
    int rows = Math.toIntExact(from.rows());
    AtomicBoolean fits = new AtomicBoolean(true);
    float[] largest = new float[team.threads()];
    team.run(
        (member, members) -> {
          Repacker repacker =
              to.type() == DataType.F32
                  ? Repacker.toFloat32(from.type())
                  : Repacker.of(from.type());
          int end = share(rows, member + 1, members);
          for (int row = share(rows, member, members); row < end && fits.get(); row++) {
            if (!repacker.repack(from, row, to.data(), row * to.rowBytes())) {
              fits.set(false);
            }
          }
          largest[member] = repacker.largest();
        });
    float all = 0;
    for (float each : largest) {
      all = Math.max(all, each);
    }
    return fits.get() && (all == 0 || all >= Repacker.leastLargest(from.type()));
  }
}
