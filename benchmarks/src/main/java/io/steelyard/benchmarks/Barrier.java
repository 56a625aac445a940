package io.steelyard.benchmarks;

import io.steelyard.kernels.ThreadTeam;
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

/** What it costs to start a task on a team of threads and to wait for all of them. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class Barrier {
  @Param({"1", "2"})
  int threads;

  private ThreadTeam team;

  @Setup(Level.Trial)
  public void start() {
    team = new ThreadTeam(threads);
  }

  @TearDown(Level.Trial)
  public void stop() {
    team.close();
  }

  @Benchmark
  public void emptyTask() {
    team.run((_, _) -> {});
  }
}
