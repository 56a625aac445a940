package io.steelyard.benchmarks;

import io.steelyard.kernels.AttentionRule;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.KeyValues;
import io.steelyard.kernels.RandomOperands;
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
 * One layer's attention with heads as in a small model (9 of 64 values, 3 in the cache), for few
 * tokens and for many, with as many positions before them as a usual prompt leaves.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class Attention {
  private static final int HEADS = 9;
  private static final int CACHED_HEADS = 3;
  private static final int DIMENSION = 64;
  private static final int BEFORE = 512;

  @Param({"VECTOR", "AVX2", "AVX512"})
  Tier tier;

  @Param({"1", "512"})
  int tokens;

  private Arena arena;
  private Kernels kernels;
  private KeyValues cache;
  private Rows queries;
  private Rows out;

  @Setup(Level.Trial)
  public void fill() {
    arena = Arena.ofShared();
    kernels = Kernels.of(tier, Runtime.getRuntime().availableProcessors());
    int positions = BEFORE + tokens;
    KeyValues.Shape shape = new KeyValues.Shape(DataType.F16, CACHED_HEADS, DIMENSION, positions);
    cache = kernels.keyValues(arena, shape);
    Rows keys = RandomOperands.rows(arena, positions, shape.width());
    kernels.store(cache, keys, keys, 0, positions);
    queries = RandomOperands.rows(arena, tokens, HEADS * DIMENSION);
    out = Rows.allocate(arena, tokens, HEADS * DIMENSION);
  }

  @TearDown(Level.Trial)
  public void close() {
    kernels.close();
    arena.close();
  }

  @Benchmark
  public void attention() {
    kernels.attention(
        queries,
        cache,
        BEFORE,
        AttentionRule.causal((float) (1 / Math.sqrt(DIMENSION))),
        out,
        tokens);
  }
}
