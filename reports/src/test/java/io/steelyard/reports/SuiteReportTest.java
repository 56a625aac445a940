package io.steelyard.reports;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.reports.terminal.Style;
import java.io.StringReader;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class SuiteReportTest {
  private static final SuiteReport REPORT =
      new SuiteReport(
          "Quick suite",
          "default · a <fast> processor",
          List.of(
              new SuiteReport.Step(
                  "roofline",
                  "./steelyard calibrate",
                  "fine",
                  "2.1 s",
                  "roofline.txt",
                  List.of(),
                  "12 GB/s | <b>\u001b"),
              new SuiteReport.Step(
                  "engines",
                  "./steelyard compare",
                  "regression",
                  "1 min 3 s",
                  "a run/report.md",
                  List.of("steelyard is 2× as fast as llamacpp at pp512."),
                  ""),
              SuiteReport.Step.notRun("with-mine", "it is not <installed>")),
          List.of(
              new SweepTable.Study(
                  "default", Map.of("prompt", "64"), SampleRun.typical().summary())));

  @Test
  void markdownHasTheStepsTheComparisonsAndWhatEachStepSays() {
    assertThat(REPORT.markdown())
        .startsWith("# Quick suite\n\ndefault · a \\<fast\\> processor\n")
        .contains(
            "| [roofline](<roofline.txt>) | fine | 2.1 s |",
            "| [engines](<a run/report.md>) | regression | 1 min 3 s |",
            "| with-mine | not run: it is not \\<installed\\> |",
            "## All comparisons",
            "| default | 64 | pp512 | steelyard |",
            "- steelyard is 2× as fast",
            "```text\n12 GB/s | <b>")
        .doesNotContain("## with-mine");
  }

  @Test
  void htmlIsWellFormedAndEscaped() throws Exception {
    String html = REPORT.html();

    assertThat(html).startsWith("<!DOCTYPE html>\n<html lang=\"en\">");
    Document page =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(html)));
    assertThat(page.getElementsByTagName("h1").item(0).getTextContent()).isEqualTo("Quick suite");
    assertThat(page.getElementsByTagName("table").getLength()).isEqualTo(2);
    assertThat(page.getElementsByTagName("a").item(1).getAttributes().item(0).getNodeValue())
        .isEqualTo("a run/report.md");
    assertThat(page.getDocumentElement().getTextContent())
        .contains("12 GB/s | <b>?", "not run: it is not <installed>", "pp512");
  }

  @Test
  void aTerminalShowsWhyAStepDidNotRun() {
    assertThat(REPORT.render(Style.FILE))
        .contains("roofline", "regression", "1 min 3 s", "not run: it is not <installed>");
  }
}
