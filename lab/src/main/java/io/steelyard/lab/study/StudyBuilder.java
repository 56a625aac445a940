package io.steelyard.lab.study;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Makes a {@link Study} part by part. Everything but the lines allowed to differ, the limits, the
 * precisions, what is left out, the sharing of processes and their groups has to be given.
 */
public final class StudyBuilder {
  private final String command;
  private Study.Model model;
  private Map<String, Study.Engine> engines;
  private String baseline;
  private List<String> metrics;
  private Study.Shape shape;
  private Study.Settings settings;
  private Study.Design design;
  private List<String> allowed = List.of();
  private Optional<Limits> limits = Optional.empty();
  private Optional<Study.Precisions> precisions = Optional.empty();
  private Map<String, String> leftOut = Map.of();
  private boolean sharing;
  private Map<String, Integer> groups = Map.of();

  StudyBuilder(String command) {
    this.command = command;
  }

  /** The model. */
  public StudyBuilder model(Study.Model model) {
    this.model = model;
    return this;
  }

  /** The engines by label. */
  public StudyBuilder engines(Map<String, Study.Engine> engines) {
    this.engines = engines;
    return this;
  }

  /** The label that the others are compared with; empty where nothing is compared. */
  public StudyBuilder baseline(String baseline) {
    this.baseline = baseline;
    return this;
  }

  /** Names of what to measure. */
  public StudyBuilder metrics(List<String> metrics) {
    this.metrics = metrics;
    return this;
  }

  /** Lengths of prompts and generations. */
  public StudyBuilder shape(Study.Shape shape) {
    this.shape = shape;
    return this;
  }

  /** What every engine is told. */
  public StudyBuilder settings(Study.Settings settings) {
    this.settings = settings;
    return this;
  }

  /** How much is measured. */
  public StudyBuilder design(Study.Design design) {
    this.design = design;
    return this;
  }

  /** Lines of the fairness sheet that may differ. */
  public StudyBuilder allowed(List<String> allowed) {
    this.allowed = allowed;
    return this;
  }

  /** What the machine and the model allow at best, where it is known. */
  public StudyBuilder limits(Optional<Limits> limits) {
    this.limits = limits;
    return this;
  }

  /** Where labels run the model in other precisions. */
  public StudyBuilder precisions(Optional<Study.Precisions> precisions) {
    this.precisions = precisions;
    return this;
  }

  /** Why cells are not measured, by their names. */
  public StudyBuilder leftOut(Map<String, String> leftOut) {
    this.leftOut = leftOut;
    return this;
  }

  /** Whether labels of one engine share a process in each block. */
  public StudyBuilder sharing(boolean sharing) {
    this.sharing = sharing;
    return this;
  }

  /** Which processes of a block wait for one another, by the names of their cells. */
  public StudyBuilder groups(Map<String, Integer> groups) {
    this.groups = groups;
    return this;
  }

  /**
   * The study.
   *
   * @throws NullPointerException if a part is missing; the message names it
   */
  public Study build() {
    return new Study(
        command,
        Objects.requireNonNull(model, "model"),
        Objects.requireNonNull(engines, "engines"),
        Objects.requireNonNull(baseline, "baseline"),
        Objects.requireNonNull(metrics, "metrics"),
        Objects.requireNonNull(shape, "shape"),
        Objects.requireNonNull(settings, "settings"),
        Objects.requireNonNull(design, "design"),
        allowed,
        limits,
        precisions,
        leftOut.isEmpty() ? Optional.empty() : Optional.of(Map.copyOf(leftOut)),
        sharing ? Optional.of(true) : Optional.empty(),
        groups.isEmpty() ? Optional.empty() : Optional.of(Map.copyOf(groups)));
  }
}
