package io.steelyard.reports;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.record.Summary;
import io.steelyard.lab.record.Summary.Comparison;
import java.io.StringReader;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;

class RegressionReportTest {
  private static final Comparison SLOWER =
      SampleRun.comparison("tg64", "head", 0.9, 0.88, 0.92, "slower", "");

  private static final Comparison FASTER =
      SampleRun.comparison("pp512", "head", 1.2, 1.1, 1.3, "faster", "");

  private static final Comparison UNDECIDED =
      SampleRun.comparison(
          "load", "head", 1.0, 0.9, 1.1, "inconclusive", "<8> more \"forks\", 9 %");

  private static final Comparison EQUIVALENT =
      SampleRun.comparison("memory", "head", 1.001, 0.999, 1.003, "equivalent", "");

  private static RegressionReport report(Comparison... comparisons) {
    return report(List.of(), List.of(), comparisons);
  }

  private static RegressionReport report(
      List<String> tolerated, List<String> broken, Comparison... comparisons) {
    Summary summary =
        new Summary(
            Summary.SCHEMA,
            "run",
            SampleRun.MODEL,
            "real",
            List.of(),
            List.of(comparisons),
            List.of(),
            List.of());
    return new RegressionReport(
        summary, 0.02, "main (0123456789)", "fix (abcdef0123)", tolerated, broken);
  }

  @Test
  void whatMayBeUndecidedIsNot() {
    RegressionReport report = report(List.of("load"), List.of(), UNDECIDED, EQUIVALENT);

    assertThat(report.undecided()).isEmpty();
    assertThat(report.verdict()).startsWith("No regression: ");
  }

  @Test
  void aBoundOfQualityThatIsBrokenIsARegression() {
    RegressionReport report =
        report(List.of(), List.of("mean-kl of head is 0.02, over 1 %"), FASTER);

    assertThat(report.isRegression()).isTrue();
    assertThat(report.verdict())
        .startsWith("Regression: ")
        .endsWith("; mean-kl of head is 0.02, over 1 %.");
    assertThat(report.annotations())
        .contains("::error title=Quality::mean-kl of head is 0.02, over 1 %25");
    assertThat(report.junit()).contains("tests=\"2\" failures=\"1\"", "classname=\"quality\"");
    assertThat(report.markdown()).contains("- mean-kl of head");
  }

  @Test
  void oneThatGotSlowerIsARegressionWhateverElseGotFaster() {
    assertThat(report(FASTER, SLOWER, UNDECIDED, EQUIVALENT).verdict())
        .isEqualTo(
            "Regression: fix (abcdef0123) against main (0123456789), margin 2 %: slower in tg64"
                + " 0.900× [0.880, 0.920]; faster in pp512 1.20× [1.10, 1.30]; undecided in load 1.00×"
                + " [0.90, 1.10].");
  }

  @Test
  void anImprovementIsToldAndIsNoAlarm() {
    RegressionReport report = report(FASTER, EQUIVALENT);

    assertThat(report.verdict()).startsWith("No regression: ").contains("faster in pp512");
    assertThat(report.regressions()).isEmpty();
    assertThat(report.undecided()).isEmpty();
    assertThat(report.annotations()).singleElement().asString().startsWith("::notice ");
  }

  @Test
  void whatCantBeToldIsUndecided() {
    assertThat(report(UNDECIDED, EQUIVALENT).verdict()).startsWith("Undecided: ");
    assertThat(report(EQUIVALENT).verdict()).endsWith("no change over the margin.");
  }

  @Test
  void junitSeesAFailureASkippedCaseAndCleanOnes() throws Exception {
    String xml = report(FASTER, SLOWER, UNDECIDED, EQUIVALENT).junit();

    Element suite =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(xml)))
            .getDocumentElement();
    assertThat(suite.getAttribute("tests")).isEqualTo("4");
    assertThat(suite.getAttribute("failures")).isEqualTo("1");
    assertThat(suite.getAttribute("skipped")).isEqualTo("1");
    assertThat(suite.getElementsByTagName("failure").item(0).getParentNode())
        .isInstanceOfSatisfying(
            Element.class, test -> assertThat(test.getAttribute("name")).isEqualTo("tg64"));
    Element skipped = (Element) suite.getElementsByTagName("skipped").item(0);
    assertThat(skipped.getAttribute("message")).contains("<8> more \"forks\", 9 %");
  }

  @Test
  void annotationsEscapeWhatWorkflowCommandsTakeForThemselves() {
    assertThat(report(SLOWER, UNDECIDED).annotations())
        .satisfiesExactly(
            line -> assertThat(line).startsWith("::error title=Regression in tg64::head is 0.900×"),
            line ->
                assertThat(line)
                    .startsWith("::warning title=Undecided in load::")
                    .contains("9 %25")
                    .doesNotContain("9 % "));
  }

  @Test
  void theSummaryOfAPullRequestIsATable() {
    assertThat(report(SLOWER, EQUIVALENT).markdown())
        .startsWith("### Regression: fix")
        .contains("| tg64 | 0.900× [0.880, 0.920] | slower | 5 |");
  }
}
