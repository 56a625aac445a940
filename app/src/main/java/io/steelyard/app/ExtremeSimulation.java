package io.steelyard.app;

import io.steelyard.app.ExtremeClimb.Reach;
import io.steelyard.app.ExtremeClimb.Step;
import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.kernels.attention.RankPlan;
import io.steelyard.kernels.attention.Variants;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.terminal.Format;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleBiFunction;

/**
 * What a length that no machine here holds would take over many ranks, each as fast as this
 * machine. All of it is predicted: nothing of it was run.
 *
 * @param length in tokens
 * @param bytesPerSecond of the network that was assumed, of each rank
 */
record ExtremeSimulation(long length, long ranks, long bytesPerSecond, List<Row> rows) {
  /** Where nobody says how many: no more than this. */
  private static final long MOST_RANKS = 1 << 20;

  /** The rates of so many last lengths show how steady a rate is. */
  private static final int RATES = 3;

  /**
   * One variant; bytes and seconds are of one rank.
   *
   * @param travels what is sent, in words
   * @param bound whether the scores are a bound, since it isn't known beforehand what is left out
   * @param measuredLength at which the rate was measured
   * @param scoresPerSecond that rate, of the scores that the variant says it computes
   * @param computeSeconds by that rate
   * @param computeLow by the fastest rate of the last lengths
   * @param computeHigh by the slowest
   * @param seconds the longer of computing and sending, which go on at the same time
   */
  record Row(
      String variant,
      long inputBytes,
      long outputBytes,
      long scratchBytes,
      long sentBytes,
      String travels,
      double scores,
      boolean bound,
      int measuredLength,
      double scoresPerSecond,
      double computeSeconds,
      double computeLow,
      double computeHigh,
      double sendSeconds,
      double seconds) {
    double allBytes() {
      return (double) inputBytes + outputBytes + scratchBytes;
    }
  }

  /**
   * Predicts.
   *
   * @param ranks 0 for the fewest, by powers of two, with which each variant fits into memory
   * @param memory of a rank
   * @param scores what a variant computes at a length, by its own account
   */
  static ExtremeSimulation of(
      AttentionProblem problem,
      List<Reach> reached,
      long length,
      long ranks,
      long memory,
      long bytesPerSecond,
      ToDoubleBiFunction<String, Integer> scores) {
    List<Reach> measured = reached.stream().filter(reach -> reach.reached() > 0).toList();
    long chosen = ranks == 0 ? fewest(problem, measured, length, memory) : ranks;
    List<Row> rows = new ArrayList<>();
    for (Reach reach : measured) {
      rows.add(
          row(
              reach,
              plan(problem, reach.variant(), length, chosen),
              chosen,
              bytesPerSecond,
              scores));
    }
    return new ExtremeSimulation(length, chosen, bytesPerSecond, rows);
  }

  private static long fewest(
      AttentionProblem problem, List<Reach> measured, long length, long memory) {
    long ranks = 1;
    while (ranks < MOST_RANKS
        && 2 * ranks <= length
        && !allFit(problem, measured, length, ranks, memory)) {
      ranks *= 2;
    }
    return ranks;
  }

  private static boolean allFit(
      AttentionProblem problem, List<Reach> measured, long length, long ranks, long memory) {
    return measured.stream()
        .map(reach -> plan(problem, reach.variant(), length, ranks))
        .allMatch(
            plan ->
                (double) plan.inputBytes() + plan.outputBytes() + plan.scratchBytes() <= memory);
  }

  /**
   * The plan of a variant.
   *
   * @throws UsageException if it can't be counted; the message says why
   */
  static RankPlan plan(AttentionProblem problem, String variant, long length, long ranks) {
    return AttentionOptions.asked(
        () ->
            RankPlan.of(
                Variants.of(variant),
                new RankPlan.Split(
                    length,
                    ranks,
                    Math.max(1, problem.batch()),
                    problem.heads(),
                    problem.kvHeads(),
                    problem.dimension(),
                    problem.causal(),
                    problem.type(),
                    problem.threads())));
  }

  private static Row row(
      Reach reach,
      RankPlan plan,
      long ranks,
      long bytesPerSecond,
      ToDoubleBiFunction<String, Integer> scores) {
    double[] rates =
        reach.steps().stream()
            .skip(Math.max(0, reach.steps().size() - RATES))
            .mapToDouble(step -> rate(reach, step, scores))
            .toArray();
    double slowest = Double.POSITIVE_INFINITY;
    double fastest = 0;
    for (double rate : rates) {
      slowest = Math.min(slowest, rate);
      fastest = Math.max(fastest, rate);
    }
    double ofRank = plan.scores() / ranks;
    double compute = ofRank / rates[rates.length - 1];
    double send = (double) plan.sentBytes() / bytesPerSecond;
    return new Row(
        reach.variant(),
        plan.inputBytes(),
        plan.outputBytes(),
        plan.scratchBytes(),
        plan.sentBytes(),
        plan.travels().text(),
        plan.scores(),
        plan.bound(),
        reach.reached(),
        rates[rates.length - 1],
        compute,
        ofRank / fastest,
        ofRank / slowest,
        send,
        Math.max(compute, send));
  }

  private static double rate(Reach reach, Step step, ToDoubleBiFunction<String, Integer> scores) {
    return scores.applyAsDouble(reach.variant(), step.predicted().length())
        / step.measured().seconds();
  }

  List<DetailTable> tables() {
    return List.of(memory(), times());
  }

  private String over() {
    return "%s over %s".formatted(Format.count(length, "token"), Format.count(ranks, "rank"));
  }

  private DetailTable memory() {
    return new DetailTable(
        "Predicted memory and traffic of a rank: " + over(),
        List.of("variant", "inputs", "outputs", "scratch", "all memory", "sent", "what travels"),
        rows.stream()
            .map(
                row ->
                    List.of(
                        row.variant(),
                        Format.bytes(row.inputBytes()),
                        Format.bytes(row.outputBytes()),
                        Format.bytes(row.scratchBytes()),
                        Format.bytes(Math.round(row.allBytes())),
                        Format.bytes(row.sentBytes()),
                        row.travels()))
            .toList(),
        "All predicted; nothing of this was run. A rank holds all heads of its share of the"
            + " positions. Scratch memory and what is sent are bounds by the plan: panels, copies,"
            + " merges, and keys and values on their way.");
  }

  private DetailTable times() {
    List<List<String>> lines = new ArrayList<>();
    for (Row row : rows) {
      String bound = row.bound() ? "≤ " : "";
      lines.add(
          List.of(
              row.variant(),
              AttentionProblem.name(row.measuredLength()),
              Format.significant(row.scoresPerSecond() / 1e9, 3),
              bound + span(row.computeSeconds()),
              "[%s, %s]".formatted(span(row.computeLow()), span(row.computeHigh())),
              span(row.sendSeconds()),
              bound + span(row.seconds())));
    }
    return new DetailTable(
        "Predicted time of a pass: " + over(),
        List.of(
            "variant",
            "rate measured at",
            "10⁹ scores/s",
            "predicted computing",
            "by other rates",
            "predicted sending",
            "predicted time"),
        lines,
        "Each rank is taken to be as fast as this machine at the longest length that the variant"
            + " reached here, in scores as the variant counts them; by other rates: the fastest and"
            + " the slowest of its last three lengths. The network is taken to carry "
            + Format.bytes(bytesPerSecond)
            + " a second from each rank while it computes: the time is the longer of both. Work is"
            + " taken to be shared evenly, and the time of merges to be in the rate. ≤: what the"
            + " variant leaves out isn't known beforehand, so all scores are counted.");
  }

  private static String span(double seconds) {
    return seconds < 9e9
        ? Format.duration(Math.round(seconds * 1e9))
        : Format.significant(seconds / (365.25 * 24 * 3600), 3) + " years";
  }
}
