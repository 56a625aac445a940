package io.steelyard.reports;

import io.steelyard.lab.record.Summary;
import io.steelyard.lab.record.Summary.Comparison;
import io.steelyard.reports.terminal.Format;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/**
 * What a commit did to an engine's speed, in the forms that continuous integration reads. What got
 * slower is a regression; an improvement is told and is never an alarm.
 *
 * @param summary of the two commits, the older one the baseline
 * @param margin the change that matters
 * @param base the older commit's name
 * @param head the newer commit's name
 * @param tolerated metrics that may be undecided
 * @param broken a sentence for each bound of quality that is broken
 */
public record RegressionReport(
    Summary summary,
    double margin,
    String base,
    String head,
    List<String> tolerated,
    List<String> broken) {
  private static final String SLOWER = "slower";
  private static final String FASTER = "faster";
  private static final String EQUIVALENT = "equivalent";

  public RegressionReport {
    tolerated = List.copyOf(tolerated);
    broken = List.copyOf(broken);
  }

  /** Whether anything got worse than it may. */
  public boolean isRegression() {
    return !regressions().isEmpty() || !broken.isEmpty();
  }

  /** What got slower, or larger. */
  public List<Comparison> regressions() {
    return of(SLOWER);
  }

  /** What got faster, or smaller. */
  public List<Comparison> improvements() {
    return of(FASTER);
  }

  /** What can't be told: too few blocks for the noise, or not comparable. */
  public List<Comparison> undecided() {
    return summary.comparisons().stream()
        .filter(c -> !List.of(SLOWER, FASTER, EQUIVALENT).contains(c.verdict()))
        .filter(c -> !tolerated.contains(c.metric()))
        .toList();
  }

  private List<Comparison> of(String verdict) {
    return summary.comparisons().stream().filter(c -> c.verdict().equals(verdict)).toList();
  }

  /** One sentence. */
  public String verdict() {
    List<String> parts = new ArrayList<>();
    say(parts, regressions(), "slower");
    say(parts, improvements(), "faster");
    say(parts, undecided(), "undecided");
    parts.addAll(broken);
    String what = parts.isEmpty() ? "no change over the margin" : String.join("; ", parts);
    String kind =
        isRegression() ? "Regression" : undecided().isEmpty() ? "No regression" : "Undecided";
    return "%s: %s against %s, margin %s: %s.".formatted(kind, head, base, percent(margin), what);
  }

  private static void say(List<String> parts, List<Comparison> comparisons, String verdict) {
    if (!comparisons.isEmpty()) {
      parts.add(
          verdict
              + " in "
              + comparisons.stream()
                  .map(RegressionReport::figure)
                  .collect(Collectors.joining(", ")));
    }
  }

  private static String figure(Comparison comparison) {
    return comparison.ratio() == null
        ? comparison.metric()
        : comparison.metric()
            + " "
            + Figure.brackets(comparison.ratio(), comparison.low(), comparison.high()).text("×");
  }

  private static String percent(double share) {
    return Format.compact(100 * share) + " %";
  }

  /** A test suite with a case a metric: regressions fail, what is undecided is skipped. */
  public String junit() {
    StringWriter text = new StringWriter();
    try {
      XMLStreamWriter xml = XMLOutputFactory.newInstance().createXMLStreamWriter(text);
      xml.writeStartDocument("UTF-8", "1.0");
      xml.writeStartElement("testsuite");
      xml.writeAttribute("name", "steelyard regress");
      xml.writeAttribute("tests", Integer.toString(summary.comparisons().size() + broken.size()));
      xml.writeAttribute("failures", Integer.toString(regressions().size() + broken.size()));
      xml.writeAttribute("errors", "0");
      xml.writeAttribute("skipped", Integer.toString(undecided().size()));
      for (Comparison comparison : summary.comparisons()) {
        xml.writeStartElement("testcase");
        xml.writeAttribute("classname", comparison.subject() + "." + comparison.model());
        xml.writeAttribute("name", comparison.metric());
        if (regressions().contains(comparison)) {
          outcome(xml, "failure", comparison);
        } else if (undecided().contains(comparison)) {
          outcome(xml, "skipped", comparison);
        }
        xml.writeEndElement();
      }
      for (String bound : broken) {
        xml.writeStartElement("testcase");
        xml.writeAttribute("classname", "quality");
        xml.writeAttribute("name", bound);
        xml.writeEmptyElement("failure");
        xml.writeAttribute("message", bound);
        xml.writeEndElement();
      }
      xml.writeEndElement();
      xml.writeEndDocument();
      xml.close();
    } catch (XMLStreamException e) {
      throw new IllegalStateException("text that is written to memory can't fail", e);
    }
    return text + "\n";
  }

  private void outcome(XMLStreamWriter xml, String name, Comparison comparison)
      throws XMLStreamException {
    xml.writeStartElement(name);
    xml.writeAttribute("message", sentence(comparison));
    xml.writeEndElement();
  }

  private String sentence(Comparison comparison) {
    return Headlines.of(summary, margin).get(summary.comparisons().indexOf(comparison));
  }

  /** A section for a pull request. */
  public String markdown() {
    StringBuilder out = new StringBuilder("### ").append(Markdown.text(verdict())).append("\n\n");
    out.append(
        "| metric | ratio, 95 % interval | verdict | blocks |\n| --- | --- | --- | ---: |\n");
    for (Comparison comparison : summary.comparisons()) {
      out.append("| ")
          .append(Markdown.text(comparison.metric()))
          .append(" | ")
          .append(
              comparison.ratio() == null
                  ? "–"
                  : Figure.brackets(comparison.ratio(), comparison.low(), comparison.high())
                      .text("×"))
          .append(" | ")
          .append(comparison.verdict())
          .append(" | ")
          .append(comparison.blocks())
          .append(" |\n");
    }
    broken.forEach(bound -> out.append("\n- ").append(Markdown.text(bound)).append('\n'));
    return out.append("\nAbove 1× the newer commit is better, whatever the unit.\n").toString();
  }

  /** Workflow commands that GitHub shows beside a run, a line each. */
  public List<String> annotations() {
    List<String> lines = new ArrayList<>();
    regressions().forEach(c -> lines.add(annotation("error", "Regression", c)));
    broken.forEach(bound -> lines.add("::error title=Quality::" + data(bound)));
    undecided().forEach(c -> lines.add(annotation("warning", "Undecided", c)));
    improvements().forEach(c -> lines.add(annotation("notice", "Improvement", c)));
    return lines;
  }

  private String annotation(String level, String title, Comparison comparison) {
    return "::%s title=%s in %s::%s"
        .formatted(level, title, property(comparison.metric()), data(sentence(comparison)));
  }

  private static String data(String text) {
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A");
  }

  /** In properties a colon and a comma mean something. */
  private static String property(String text) {
    return text.replace("%", "%25").replace(":", "%3A").replace(",", "%2C");
  }
}
