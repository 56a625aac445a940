package io.steelyard.reports;

import io.steelyard.lab.record.Summary;
import java.time.Instant;
import java.util.List;

/**
 * One figure of one engine that llama-bench doesn't measure: a load, a cold start, peak memory.
 * What it shares with a {@link BenchRow} has the same names in every format.
 *
 * @param cell the figure, with its mean
 * @param buildCommit commit of this build, shortened
 * @param cpuInfo the processor's name
 * @param modelFilename path of the model
 * @param modelType size and precision in words
 * @param modelSize bytes of its tensors
 * @param modelParameters number of its weights
 * @param randomWeights whether the weights were drawn at random
 * @param threads threads that computed
 * @param testTime when the test began
 * @param samples one a process, in the cell's unit
 */
public record BenchFigure(
    Summary.Cell cell,
    String buildCommit,
    String cpuInfo,
    String modelFilename,
    String modelType,
    long modelSize,
    long modelParameters,
    boolean randomWeights,
    int threads,
    Instant testTime,
    List<Double> samples) {

  public BenchFigure {
    samples = List.copyOf(samples);
    if (cell.mean() == null || samples.isEmpty()) {
      throw new IllegalArgumentException(cell.label() + " has no sample of " + cell.metric());
    }
  }
}
