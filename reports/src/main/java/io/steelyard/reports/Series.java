package io.steelyard.reports;

import java.util.List;

/**
 * The raw samples of one label and metric, in the order of the run.
 *
 * @param label the engine's label
 * @param metric such as {@code pp512}
 * @param unit such as {@code tok/s}
 * @param blocks in the order in which they ran
 */
public record Series(String label, String metric, String unit, List<Block> blocks) {

  public Series {
    blocks = List.copyOf(blocks);
  }

  /**
   * One fork's samples, of the attempt at the block that counts.
   *
   * @param number the block's number in the run
   * @param disturbed whether the block counts although the machine was disturbed meanwhile, its
   *     repetition too
   * @param warmUp iterations before the trials, in the series' unit
   * @param trials timed calls, in the series' unit
   */
  public record Block(int number, boolean disturbed, List<Double> warmUp, List<Double> trials) {
    public Block {
      warmUp = List.copyOf(warmUp);
      trials = List.copyOf(trials);
    }
  }
}
