package io.steelyard.app;

import io.steelyard.kernels.Roofline;
import java.util.Locale;
import java.util.Map;
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
}
