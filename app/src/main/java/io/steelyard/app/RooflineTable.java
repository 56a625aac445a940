package io.steelyard.app;

import io.steelyard.kernels.Roofline;
import io.steelyard.lab.study.Limits;
import io.steelyard.reports.terminal.Format;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;

/** A roofline in words. */
final class RooflineTable {
  private RooflineTable() {}

  static String text(Roofline limits) {
    StringJoiner products = new StringJoiner(", ");
    for (Map.Entry<String, Double> each : limits.productsPerSecond().entrySet()) {
      products.add(
          String.format(Locale.ROOT, "%s %.0f GMAC/s", each.getKey(), each.getValue() / 1e9));
    }
    String read =
        String.format(
            Locale.ROOT,
            "Limits with %d threads: reading memory %.1f GB/s",
            limits.threads(),
            limits.readBytesPerSecond() / 1e9);
    return products.length() == 0 ? read : read + "; " + products;
  }

  /** How to have shares of the limits in later runs. */
  static String advice(int threads) {
    return "'./steelyard calibrate --roofline%s' (2 s) adds to later runs what share of this machine's limits each speed is"
        .formatted(
            threads == Runtime.getRuntime().availableProcessors() ? "" : " --threads " + threads);
  }

  /** A share in a table; a dash where there is none. */
  static String share(Double ofLimit) {
    return ofLimit == null ? "–" : Format.percent(ofLimit, 0);
  }

  /** What the shares in a table are of, or how to have them. */
  static String measured(Optional<Limits> limits, int threads) {
    return limits.map(RooflineTable::measured).orElseGet(() -> advice(threads));
  }

  /** What the shares in a report are of. */
  static String sentence(Limits limits) {
    return measured(limits)
        + " Decode is limited by reading the weights and the KV cache, prefill mostly by multiplying; over 100 % the caches held what was read, a pass yielded several tokens, or the engine multiplies with faster instructions than those measured.";
  }

  /** What a share is, and the limits. */
  static String measured(Limits limits) {
    return "Of limit: the least time that this machine's limits, measured with %s, allow ÷ the time it took. They are %s of reading memory%s."
        .formatted(
            Format.count(limits.threads(), "thread"),
            Format.significant(limits.readBytesPerSecond() / 1e9, 3) + " GB/s",
            limits.productsPerSecond() > 0
                ? " and %s GMAC/s in %s"
                    .formatted(
                        Format.significant(limits.productsPerSecond() / 1e9, 3),
                        limits.arithmetic())
                : "");
  }
}
