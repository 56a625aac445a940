package io.steelyard.lab.run;

import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.study.Study;

/**
 * How many blocks a run has, from what it costs to run one.
 *
 * @param forkSeconds what the processes of a block take
 */
record BlockPlan(double forkSeconds) {
  /** What the sentinel takes a block, its start included. */
  private static final double SENTINEL_SECONDS = 3;

  /** On shared machines every second block is disturbed and measured again. */
  private static final double REPEATED = 1.5;

  /** More blocks than this are run only where they are asked for. */
  private static final int MOST_BLOCKS = 200;

  /** The same of an adaptive run: the further away its end, the wider the first intervals. */
  private static final int MOST_LOOKS = 40;

  private double blockSeconds() {
    return SENTINEL_SECONDS + forkSeconds;
  }

  /**
   * The study with its number of blocks, kept as the run's plan. Where it is left to the budget it
   * is fixed here, before the first block: what blocks show must not change it.
   */
  Study fix(Study study, RunDirectory directory) {
    if (study.design().forks() > 0) {
      return study;
    }
    int most = study.design().adaptive().isPresent() ? MOST_LOOKS : MOST_BLOCKS;
    double blocks = Math.ceil(study.design().budgetSeconds() / (REPEATED * blockSeconds()));
    Study planned =
        study.with(study.design().upTo((int) Math.clamp(blocks, Study.Design.LEAST_FORKS, most)));
    directory.write("plan.json", Json.pretty(planned));
    return planned;
  }

  /** How long it will take, in a line. */
  String expectation(Study planned) {
    Study.Design design = planned.design();
    double least = blockSeconds() * Math.min(design.forks(), Study.Design.LEAST_FORKS);
    double all = blockSeconds() * design.forks();
    return "measuring %d cells in %d blocks%s: about %.0f s (at least %.0f s%s)"
        .formatted(
            planned.cells().size(),
            design.forks(),
            design.adaptive().isPresent() ? ", or fewer where these settle everything" : "",
            Math.max(least, Math.min(all, design.budgetSeconds())),
            least,
            design.budgetSeconds() < Study.Design.NO_BUDGET
                ? ", budget %.0f s".formatted(design.budgetSeconds())
                : "");
  }
}
