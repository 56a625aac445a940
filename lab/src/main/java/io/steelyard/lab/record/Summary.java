package io.steelyard.lab.record;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a run found: {@code summary.json}, schema {@value #SCHEMA}. Derived from the plan and the
 * trials alone, and derivable again.
 *
 * @param schema always {@value #SCHEMA}
 * @param run the run's name, its directory under {@code runs/}
 * @param model the model, as asked for
 * @param weights {@code real} or {@code random}
 * @param cells one row a label, precision and metric
 * @param comparisons one row a label other than the baseline, and metric
 * @param parity one row a label
 * @param fairness the fairness sheet
 * @param quality of a study of precisions, one row a label: what each has lost
 */
public record Summary(
    String schema,
    String run,
    String model,
    String weights,
    List<Cell> cells,
    List<Comparison> comparisons,
    List<Parity> parity,
    List<FairnessLine> fairness,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<List<Quality>> quality) {

  public static final String SCHEMA = "steelyard/summary/1";

  /**
   * One metric of one label.
   *
   * @param label the engine's label
   * @param engine the engine's name
   * @param model the model
   * @param precision the weights' precision
   * @param metric such as {@code pp512}, {@code tg64@d4096}, {@code coldstart}
   * @param unit such as {@code tok/s}, {@code ms}, {@code MB}
   * @param better {@code higher} or {@code lower}
   * @param mean mean of the fork means
   * @param median median of all trials
   * @param sd standard deviation of the fork means
   * @param min smallest trial
   * @param max largest trial
   * @param low lower bound of the mean's 95 % interval; null where the forks don't allow one
   * @param high upper bound; null likewise
   * @param forks forks behind the figures
   * @param trials trials behind the figures
   * @param state {@code steady}, {@code no steady state} or {@code failed}
   * @param disturbed blocks of the run that were measured again because the machine was disturbed
   * @param roofline share of the roofline, of prefill, decode and forward passes; null of other
   *     metrics and where the machine's limits were not measured. Above 1 where caches held what
   *     was read, a pass yielded several tokens, or the engine knows faster instructions than were
   *     measured
   */
  public record Cell(
      String label,
      String engine,
      String model,
      String precision,
      String metric,
      String unit,
      String better,
      Double mean,
      Double median,
      Double sd,
      Double min,
      Double max,
      Double low,
      Double high,
      int forks,
      int trials,
      String state,
      int disturbed,
      Double roofline) {}

  /**
   * One label against the baseline.
   *
   * @param ratio turned so that above 1 the subject is better, whatever the unit; null where
   *     nothing could be computed
   * @param low lower bound of its 95 % interval; null where the blocks don't allow one
   * @param high upper bound; null likewise
   * @param verdict {@code faster}, {@code slower}, {@code equivalent}, {@code inconclusive} or
   *     {@code not comparable}
   * @param blocks paired blocks behind the ratio
   * @param note what a reader must know: forks that would settle it, why it is not comparable;
   *     empty where there is nothing to say
   */
  public record Comparison(
      String metric,
      String subject,
      String baseline,
      String model,
      String precision,
      Double ratio,
      Double low,
      Double high,
      String verdict,
      int blocks,
      String note) {}

  /**
   * One label against the oracle.
   *
   * @param tokensEqual whether the token ids of the fixed texts are the oracle's
   * @param kldMean mean over positions of KL(oracle ‖ engine), in nats
   * @param kldP99 its 99th percentile
   * @param top1 share of positions with the oracle's most likely token
   * @param maxAbs largest difference of a logit
   * @param perplexity on the texts of the parity run; empty where their logits were not compared
   * @param toleranceThatPasses the smallest bound on the mean KL that this label would pass
   * @param pass whether every check passed
   * @param note the check that failed, or what the generation check saw
   */
  public record Parity(
      String label,
      String model,
      String precision,
      boolean tokensEqual,
      Double kldMean,
      Double kldP99,
      Double top1,
      Double maxAbs,
      Optional<Perplexity> perplexity,
      Double toleranceThatPasses,
      boolean pass,
      String note) {}

  /**
   * One precision against the source, on Steelyard's text and by the texts that both generated.
   *
   * @param label the precision
   * @param weights types of the matrices, by their share
   * @param source whether it is the source itself
   * @param bytes of the model's file
   * @param tokens scored
   * @param perplexity over them
   * @param ratio of the perplexity to the source's; above 1 is worse
   * @param ratioError its standard error
   * @param kldMean mean over positions of KL(source ‖ label), in nats
   * @param kldP99 its 99th percentile
   * @param top1 share of positions with the source's most likely token
   * @param similarity of generated text to the source's: 1 − edits ÷ length, in tokens, mean over
   *     prompts
   * @param agreed share of the generated tokens before the first that is not the source's
   */
  public record Quality(
      String label,
      String weights,
      boolean source,
      long bytes,
      long tokens,
      double perplexity,
      double ratio,
      double ratioError,
      double kldMean,
      double kldP99,
      double top1,
      double similarity,
      double agreed) {}

  /** A summary of a study that isn't one of precisions. */
  public Summary(
      String schema,
      String run,
      String model,
      String weights,
      List<Cell> cells,
      List<Comparison> comparisons,
      List<Parity> parity,
      List<FairnessLine> fairness) {
    this(schema, run, model, weights, cells, comparisons, parity, fairness, Optional.empty());
  }

  /**
   * One line of the fairness sheet.
   *
   * @param line what is compared, such as {@code weights}
   * @param values what each label has
   * @param state {@code equal}, {@code by design} or {@code different}
   */
  public record FairnessLine(String line, Map<String, String> values, String state) {}
}
