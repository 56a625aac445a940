package io.steelyard.lab.run;

import io.steelyard.lab.study.Study;

/**
 * What it costs to run a block, and so how many a run is expected to have.
 *
 * @param forkSeconds what the processes of a block take
 */
record BlockPlan(double forkSeconds) {
  /** What the sentinel takes a block. */
  private static final double SENTINEL_SECONDS = 1;

  /** On shared machines every second block is disturbed and measured again. */
  private static final double REPEATED = 1.5;

  private double blockSeconds() {
    return SENTINEL_SECONDS + forkSeconds;
  }

  /** How long it will take, in a line. */
  String expectation(Study study) {
    Study.Design design = study.design();
    double least = blockSeconds() * Math.min(design.forks(), Study.Design.LEAST_FORKS);
    boolean adaptive = design.adaptive().isPresent();
    double affordable = Math.ceil(design.budgetSeconds() / (REPEATED * blockSeconds()));
    int blocks = (int) Math.min(Math.max(affordable, Study.Design.LEAST_FORKS), design.forks());
    return "measuring %d %s in %s%d %s%s: about %.0f s (at least %.0f s%s)"
        .formatted(
            study.cells().size(),
            study.cells().size() == 1 ? "cell" : "cells",
            blocks < design.forks() ? "about " : "",
            blocks,
            blocks == 1 ? "block" : "blocks",
            adaptive ? ", or fewer where these settle everything" : "",
            Math.max(least, Math.min(blockSeconds() * blocks, design.budgetSeconds())),
            least,
            design.budgetSeconds() < Study.Design.NO_BUDGET
                ? ", budget %.0f s".formatted(design.budgetSeconds())
                : "");
  }
}
