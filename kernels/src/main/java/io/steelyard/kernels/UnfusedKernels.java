package io.steelyard.kernels;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/**
 * Operators that don't compute together what can be computed together, to weigh what that is worth:
 * stacked matrices, such as those of queries, keys and values or of gate and up, are multiplied one
 * by one, and a gated activation is an activation and a product. The values are the same, but for
 * the rounding of a gate in tiers that round only its end.
 */
public final class UnfusedKernels extends ForwardingKernels {
  /** Wraps operators, which are closed with these. */
  public UnfusedKernels(Kernels kernels) {
    super(kernels);
  }

  /** A matrix whose parts are multiplied one by one. */
  private record Parted(List<Tensor> parts, List<Matrix> matrices) implements Matrix {
    @Override
    public List<Tensor> held() {
      return matrices.stream().flatMap(matrix -> matrix.held().stream()).toList();
    }

    @Override
    public int rows() {
      return matrices.stream().mapToInt(Matrix::rows).sum();
    }

    @Override
    public int columns() {
      return matrices.getFirst().columns();
    }

    @Override
    public long ownedBytes() {
      return matrices.stream().mapToLong(Matrix::ownedBytes).sum();
    }
  }

  @Override
  public Matrix prepare(List<Tensor> parts, Arena arena) {
    if (parts.size() <= 1) {
      return kernels.prepare(parts, arena);
    }
    List<Matrix> matrices = new ArrayList<>();
    for (Tensor part : parts) {
      matrices.add(kernels.prepare(List.of(part), arena));
    }
    return new Parted(List.copyOf(parts), List.copyOf(matrices));
  }

  @Override
  public void embed(Matrix table, int[] ids, int from, int tokens, Rows out) {
    if (table instanceof Parted) {
      throw new IllegalArgumentException("a table of several parts can't be looked up unfused");
    }
    kernels.embed(table, ids, from, tokens, out);
  }

  @Override
  public void matmul(Matrix weights, Rows x, Rows y, int tokens) {
    if (!(weights instanceof Parted parted)) {
      kernels.matmul(weights, x, y, tokens);
      return;
    }
    int column = 0;
    for (Matrix matrix : parted.matrices()) {
      kernels.matmul(matrix, x, y.columns(column, matrix.rows()), tokens);
      column += matrix.rows();
    }
  }

  /**
   * A gate whose result takes its place; another one is computed as it is, so as not to change it.
   */
  @Override
  public void gate(Activation activation, Rows gate, Rows up, Rows out, int tokens) {
    if (!out.equals(gate)) {
      kernels.gate(activation, gate, up, out, tokens);
      return;
    }
    kernels.activate(activation, gate, tokens);
    kernels.multiply(gate, up, tokens);
  }

  @Override
  public String description() {
    return kernels.description() + ", unfused";
  }
}
