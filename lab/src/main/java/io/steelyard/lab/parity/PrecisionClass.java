package io.steelyard.lab.parity;

import io.steelyard.lab.worker.LoadReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * How close to the oracle an engine must be: the least precise of the arithmetic and the KV cache
 * decides. The weights are the same on both sides, so these bounds hold arithmetic alone.
 *
 * <p>This is the one table of parity's bounds.
 */
public enum PrecisionClass {
  //         mean KL, p99 KL, top-1, max |Δ|, margin, layer
  F32("f32", 1e-7, 1e-6, 0.99, 0.02, 0.005, 1e-4),
  HALF("bf16, f16", 1e-3, 1e-2, 0.95, 1.0, 0.1, 0.02),
  EIGHT_BIT("8-bit", 1e-2, 1e-1, 0.90, 4.0, 0.5, 0.1),
  FOUR_BIT("4-bit and less", 2e-2, 2e-1, 0.85, 8.0, 1.0, 0.2);

  private static final Pattern FOUR_BIT_TYPES = Pattern.compile("Q[1-5]|FP4|NF4|INT4");
  private static final Pattern EIGHT_BIT_TYPES = Pattern.compile("Q[68]|INT8|FP8|F8");
  private static final Pattern HALF_TYPES = Pattern.compile("(F|FP|FLOAT)16");

  private final String label;
  private final double meanKl;
  private final double p99Kl;
  private final double top1;
  private final double maxAbs;
  private final double margin;
  private final double layerError;

  PrecisionClass(
      String label,
      double meanKl,
      double p99Kl,
      double top1,
      double maxAbs,
      double margin,
      double layerError) {
    this.label = label;
    this.meanKl = meanKl;
    this.p99Kl = p99Kl;
    this.top1 = top1;
    this.maxAbs = maxAbs;
    this.margin = margin;
    this.layerError = layerError;
  }

  public String label() {
    return label;
  }

  /** Most that the mean of KL(oracle ‖ engine) may be, in nats. */
  public double meanKl() {
    return meanKl;
  }

  /** Most that its 99th percentile may be. */
  public double p99Kl() {
    return p99Kl;
  }

  /** Least share of positions with the oracle's most likely token, close calls left aside. */
  public double top1() {
    return top1;
  }

  /** Most that any logit may differ. */
  public double maxAbs() {
    return maxAbs;
  }

  /** Gap between the two largest logits under which either may come first. */
  public double margin() {
    return margin;
  }

  /** Most that a layer's output may differ, as relative Frobenius norm. */
  public double layerError() {
    return layerError;
  }

  /**
   * Every bound on logits that a comparison breaks, one phrase each; a value that is no number
   * breaks its bound.
   *
   * @param how set behind the name of what is out of bound, such as {@code " with …"}; may be empty
   */
  public List<String> failures(LogitsComparison logits, String how) {
    List<String> failures = new ArrayList<>();
    over(failures, "mean KL" + how, logits.kldMean(), meanKl);
    over(failures, "99th percentile of KL" + how, logits.kldP99(), p99Kl);
    over(failures, "largest logit difference" + how, logits.maxAbs(), maxAbs);
    // A close call may go either way, as in generation; a random model has many.
    double agreement = logits.top1Within(margin);
    if (!(agreement >= top1)) {
      failures.add(
          String.format(Locale.ROOT, "top-1 agreement%s %.3g is under %.3g", how, agreement, top1));
    }
    return failures;
  }

  private static void over(List<String> failures, String what, double value, double bound) {
    if (!(value <= bound)) {
      failures.add(String.format(Locale.ROOT, "%s %.3g is over %.3g", what, value, bound));
    }
  }

  /**
   * The class of a loaded model, from what the engine read back. An engine that multiplies in
   * float32 rounds nothing that the weights' own precision excuses, so only its KV cache counts.
   */
  public static PrecisionClass of(LoadReport.Settings settings) {
    PrecisionClass arithmetic =
        exactArithmetic(settings)
            ? F32
            : lessPrecise(ofTypes(settings.weights()), ofTypes(settings.activations()));
    return lessPrecise(arithmetic, ofTypes(settings.kv()));
  }

  /** Whether an engine multiplies in float32, whatever the precision of the weights. */
  static boolean exactArithmetic(LoadReport.Settings settings) {
    return settings.activations().equalsIgnoreCase("f32");
  }

  /** The one with the wider bounds: two engines can agree no better than the less precise one. */
  public static PrecisionClass lessPrecise(PrecisionClass a, PrecisionClass b) {
    return a.compareTo(b) < 0 ? b : a;
  }

  /** The least precise of the types in a text; a text that names none is held to the strictest. */
  private static PrecisionClass ofTypes(String types) {
    String text = types.toUpperCase(Locale.ROOT);
    if (FOUR_BIT_TYPES.matcher(text).find()) {
      return FOUR_BIT;
    }
    if (EIGHT_BIT_TYPES.matcher(text).find()) {
      return EIGHT_BIT;
    }
    return HALF_TYPES.matcher(text).find() ? HALF : F32;
  }
}
