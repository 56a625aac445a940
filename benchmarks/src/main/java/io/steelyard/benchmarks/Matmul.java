package io.steelyard.benchmarks;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Matrix;
import io.steelyard.kernels.RandomOperands;
import io.steelyard.kernels.Rows;
import io.steelyard.kernels.Tier;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** A matrix product with 2048 × 2048 weights on all processors. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class Matmul {
  private static final int SIZE = 2048;

  @Param({"VECTOR", "AVX2", "AVX512"})
  Tier tier;

  /** All types. */
  @Param DataType type;

  @Param({"1", "4", "512"})
  int tokens;

  private Arena arena;
  private Kernels kernels;
  private Matrix weights;
  private Rows x;
  private Rows y;

  @Setup(Level.Trial)
  public void prepare() {
    arena = Arena.ofShared();
    kernels = Kernels.of(tier, Runtime.getRuntime().availableProcessors());
    weights = kernels.prepare(List.of(RandomOperands.tensor(arena, type, SIZE, SIZE)));
    x = RandomOperands.rows(arena, tokens, SIZE);
    y = Rows.allocate(arena, tokens, SIZE);
  }

  @TearDown(Level.Trial)
  public void close() {
    kernels.close();
    arena.close();
  }

  @Benchmark
  public void matmul() {
    kernels.matmul(weights, x, y, tokens);
  }
}
