package io.steelyard.benchmarks;

import io.steelyard.kernels.Activation;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.RandomOperands;
import io.steelyard.kernels.Rope;
import io.steelyard.kernels.Rows;
import io.steelyard.kernels.Tier;
import java.lang.foreign.Arena;
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

/**
 * What is done value by value, with sizes as in a model of 1B: 2048 wide, 8192 where it is gated,
 * heads of 64 values. The softmax is no operator of its own: {@link Attention} has it.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class Elementwise {
  private static final int WIDTH = 2048;
  private static final int GATED = 8192;
  private static final int DIMENSION = 64;
  private static final int BEFORE = 512;

  @Param({"VECTOR", "AVX2", "AVX512"})
  Tier tier;

  @Param({"1", "512"})
  int tokens;

  private Arena arena;
  private Kernels kernels;
  private Rope rope;
  private Rows angles;
  private Rows x;
  private Rows y;
  private Rows weight;
  private Rows gate;
  private Rows up;
  private Rows gated;

  @Setup(Level.Trial)
  public void fill() {
    arena = Arena.ofShared();
    kernels = Kernels.of(tier, Runtime.getRuntime().availableProcessors());
    rope = new Rope(Rope.Layout.INTERLEAVED, DIMENSION, 10_000, 1, new float[0]);
    angles = rope.allocateAngles(arena, tokens);
    rope.angles(BEFORE, tokens, angles);
    x = RandomOperands.rows(arena, tokens, WIDTH);
    y = Rows.allocateApart(arena, tokens, WIDTH);
    weight = RandomOperands.rows(arena, 1, WIDTH);
    gate = RandomOperands.rows(arena, tokens, GATED);
    up = RandomOperands.rows(arena, tokens, GATED);
    gated = Rows.allocateApart(arena, tokens, GATED);
  }

  @TearDown(Level.Trial)
  public void close() {
    kernels.close();
    arena.close();
  }

  @Benchmark
  public void rmsNorm() {
    kernels.rmsNorm(x, weight, 1e-5f, y, tokens);
  }

  /** In place, as all turns are: lengths stay. */
  @Benchmark
  public void rope() {
    kernels.rope(rope, angles, x, DIMENSION, tokens);
  }

  @Benchmark
  public void siluGate() {
    kernels.gate(Activation.SILU, gate, up, gated, tokens);
  }

  /** In place: sums grow with each call, but no value takes longer than another. */
  @Benchmark
  public void residualAdd() {
    kernels.add(y, x, tokens);
  }
}
