package io.steelyard.history;

import java.util.Optional;

/**
 * What is to be followed over time. What is left open is taken from the newest run that fits.
 *
 * @param metric such as {@code tg64}
 * @param label the engine's label
 * @param engine the engine's name
 * @param model the model's name
 * @param hardware fingerprint of the hardware
 */
public record TrendQuery(
    String metric,
    Optional<String> label,
    Optional<String> engine,
    Optional<String> model,
    Optional<String> hardware) {

  /** Of a metric, with the rest left open. */
  public static TrendQuery of(String metric) {
    return new TrendQuery(
        metric, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
  }

  /** Only of this label. */
  public TrendQuery label(String name) {
    return new TrendQuery(metric, Optional.of(name), engine, model, hardware);
  }

  /** Only of this engine. */
  public TrendQuery engine(String name) {
    return new TrendQuery(metric, label, Optional.of(name), model, hardware);
  }

  /** Only of this model. */
  public TrendQuery model(String name) {
    return new TrendQuery(metric, label, engine, Optional.of(name), hardware);
  }

  /** Only on this hardware. */
  public TrendQuery hardware(String fingerprint) {
    return new TrendQuery(metric, label, engine, model, Optional.of(fingerprint));
  }
}
