package io.steelyard.reports;

import io.steelyard.reports.terminal.DisplayWidth;
import io.steelyard.reports.terminal.Format;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Time by what it was spent in, as a picture: a box is as wide as its time and stands under the box
 * that it is a part of. The widest part is at the left; names that don't fit, and all figures, are
 * in the tooltips.
 *
 * <p>Source: Gregg, "The Flame Graph", CACM 59(6), 2016, here with its root at the top.
 */
public final class FlameGraph {
  private static final int WIDTH = 1200;
  private static final int MARGIN = 12;
  private static final int ROW = 20;
  private static final int HEADER = 52;

  /** Of a character of the small font, in pixels; a generous mean. */
  private static final double CHARACTER = 6.8;

  /** Narrower boxes have no room for a character and the dots after it. */
  private static final int FEWEST_CHARACTERS = 3;

  /** Boxes narrower than this can't be seen. */
  private static final double THINNEST = 0.1;

  private static final String INK = "#222222";
  private static final String DIM = "#6B6B6B";
  private static final String ROOT = "#E2E2E2";

  /**
   * One for each part of the root, the last for all that are left: the colours of the other
   * figures, light enough for text; as numbers, since a host without fonts can draw this too.
   */
  private static final List<String> PALETTE =
      List.of("#A6CEE4", "#F0C7A6", "#A6DDCE", "#EDD0E0", "#F6DDA6", "#C4E5F7", "#B2B2B2");

  /** A box: a name, its own time, and its parts. */
  private static final class Box {
    private final String name;
    private final Map<String, Box> parts = new LinkedHashMap<>();
    private long own;

    Box(String name) {
      this.name = name;
    }

    long nanos() {
      return own + parts.values().stream().mapToLong(Box::nanos).sum();
    }

    int height() {
      return 1 + parts.values().stream().mapToInt(Box::height).max().orElse(0);
    }

    List<Box> widestFirst() {
      return parts.values().stream()
          .sorted(Comparator.comparingLong(Box::nanos).reversed())
          .toList();
    }
  }

  private final Box root;

  /** An empty graph of something with this name. */
  public FlameGraph(String name) {
    root = new Box(name);
  }

  /**
   * Adds time.
   *
   * @param path names from the part right below the root down to what the time was spent in
   * @throws IllegalArgumentException if the time is negative
   */
  public void add(List<String> path, long nanos) {
    if (nanos < 0) {
      throw new IllegalArgumentException("time can't be negative: " + nanos + " ns in " + path);
    }
    Box box = root;
    for (String name : path) {
      box = box.parts.computeIfAbsent(name, Box::new);
    }
    box.own += nanos;
  }

  /** All time that was added. */
  public long nanos() {
    return root.nanos();
  }

  /**
   * The picture.
   *
   * @param subtitle what the widths and names mean
   */
  public String svg(String subtitle) {
    int height = HEADER + ROW * root.height() + MARGIN;
    StringBuilder svg = new StringBuilder();
    svg.append(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <svg xmlns="http://www.w3.org/2000/svg" width="%1$d" height="%2$d" viewBox="0 0 %1$d %2$d" \
        font-family="%3$s" font-size="11" fill="%4$s">
        <rect width="%1$d" height="%2$d" fill="#FFFFFF"/>
        """
            .formatted(WIDTH, height, Plots.SVG_FONTS, INK));
    svg.append(
        """
        <text x="%d" y="22" font-size="16" font-weight="bold">%s</text>
        <text x="%d" y="40" fill="%s">%s</text>
        """
            .formatted(MARGIN, escape(root.name), MARGIN, DIM, escape(subtitle)));
    long all = Math.max(1, nanos());
    draw(svg, root, MARGIN, HEADER, (WIDTH - 2.0 * MARGIN) / all, all, ROOT);
    return svg.append("</svg>\n").toString();
  }

  private void draw(
      StringBuilder svg, Box box, double x, double y, double scale, long all, String colour) {
    long nanos = box.nanos();
    double width = nanos * scale;
    if (width < THINNEST) {
      return;
    }
    String share = Format.percent((double) nanos / all, 1);
    svg.append(
        String.format(
            Locale.ROOT,
            "<g><title>%s: %s, %s</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\""
                + " fill=\"%s\" stroke=\"#FFFFFF\" stroke-width=\"0.5\"/>",
            escape(box.name),
            Format.duration(nanos),
            share,
            x,
            y,
            width,
            ROW - 1,
            colour));
    int characters = (int) ((width - 8) / CHARACTER);
    if (characters >= FEWEST_CHARACTERS) {
      String full = box.name + ": " + share;
      String text = DisplayWidth.of(full) <= characters ? full : cut(box.name, characters);
      svg.append(
          String.format(
              Locale.ROOT, "<text x=\"%.2f\" y=\"%.0f\">%s</text>", x + 4, y + 14, escape(text)));
    }
    svg.append("</g>\n");
    double at = x;
    List<Box> parts = box.widestFirst();
    for (int i = 0; i < parts.size(); i++) {
      Box part = parts.get(i);
      draw(
          svg,
          part,
          at,
          y + ROW,
          scale,
          all,
          box == root ? PALETTE.get(Math.min(i, PALETTE.size() - 1)) : colour);
      at += part.nanos() * scale;
    }
  }

  private static String cut(String name, int characters) {
    return DisplayWidth.of(name) <= characters
        ? name
        : DisplayWidth.head(name, characters - 1) + "…";
  }

  /** Text for XML 1.0: its own signs escaped, control characters, which it can't hold, replaced. */
  private static String escape(String text) {
    return text.replaceAll("[\\p{Cntrl}\\uFFFE\\uFFFF]", "\uFFFD")
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
