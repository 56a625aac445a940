package io.steelyard.lab.parity;

import static io.steelyard.lab.TestData.parity;
import static io.steelyard.lab.TestData.settings;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.TestData;
import io.steelyard.lab.record.Summary.FairnessLine;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.LoadReport;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FairnessSheetTest {
  private static final Study STUDY = TestData.study(List.of("prefill"), "base", "other", "third");

  private static FairnessLine line(List<FairnessLine> sheet, String name) {
    return sheet.stream().filter(line -> line.line().equals(name)).findFirst().orElseThrow();
  }

  private static List<FairnessLine> sheet(
      Study study, LoadReport.Settings base, LoadReport.Settings other) {
    return FairnessSheet.of(study, List.of(parity("base", base), parity("other", other)));
  }

  @Test
  void everyLineOfTheContractIsThere() {
    assertThat(FairnessSheet.of(STUDY, List.of(parity("base"))))
        .extracting(FairnessLine::line)
        .contains(
            "weights",
            "token ids",
            "weight precision",
            "KV precision",
            "activation precision",
            "threads",
            "affinity",
            "tokens a pass",
            "context",
            "flash attention",
            "speculation",
            "output length");
  }

  @Test
  void labelsThatLoadedTheSameAreEqualInEveryLine() {
    List<FairnessLine> sheet =
        FairnessSheet.of(STUDY, List.of(parity("base"), parity("other"), parity("third")));

    assertThat(sheet).allMatch(line -> line.state().equals("equal"));
    assertThat(line(sheet, "threads").values())
        .containsExactly(Map.entry("base", "2"), Map.entry("other", "2"), Map.entry("third", "2"));
    assertThat(line(sheet, "flash attention").values()).containsEntry("base", "on");
    assertThat(FairnessSheet.unexplained(STUDY, sheet, "other", "base")).isEmpty();
  }

  @Test
  void aDifferenceThatNobodyNamedIsDifferent() {
    List<FairnessLine> sheet = sheet(STUDY, settings("F32", "f16", 2), settings("F32", "f16", 1));

    assertThat(line(sheet, "threads").state()).isEqualTo("different");
    assertThat(line(sheet, "KV precision").state()).isEqualTo("equal");
    assertThat(FairnessSheet.unexplained(STUDY, sheet, "other", "base")).containsExactly("threads");
  }

  @Test
  void everyUnexplainedLineIsNamed() {
    List<FairnessLine> sheet = sheet(STUDY, settings("F32", "f16", 2), settings("Q4_0", "f32", 1));

    assertThat(FairnessSheet.unexplained(STUDY, sheet, "other", "base"))
        .containsExactly("weight precision", "KV precision", "threads");
  }

  @Test
  void aDifferenceThatAnOptionNamesIsByDesign() {
    Study study = TestData.with(STUDY, Map.of("other", Map.of("threads", "1")));
    List<FairnessLine> sheet = sheet(study, settings("F32", "f16", 2), settings("F32", "f16", 1));

    assertThat(line(sheet, "threads").state()).isEqualTo("by design");
    assertThat(FairnessSheet.unexplained(study, sheet, "other", "base")).isEmpty();
  }

  @Test
  void speculationIsShownWhereAnEngineWasToldTo() {
    Study study = TestData.with(STUDY, Map.of("other", Map.of("speculate", "lookup")));
    List<FairnessLine> sheet = FairnessSheet.of(study, List.of(parity("base"), parity("other")));

    assertThat(line(sheet, "speculation").values())
        .containsExactly(Map.entry("base", "off"), Map.entry("other", "lookup"));
    assertThat(line(sheet, "speculation").state()).isEqualTo("by design");
    assertThat(FairnessSheet.unexplained(study, sheet, "other", "base")).isEmpty();
  }

  @Test
  void anOptionExplainsItsOwnLineAlone() {
    Study study = TestData.with(STUDY, Map.of("other", Map.of("flash", "off")));
    List<FairnessLine> sheet = sheet(study, settings("F32", "f16", 2), settings("F32", "f16", 1));

    assertThat(FairnessSheet.unexplained(study, sheet, "other", "base")).containsExactly("threads");
  }

  @Test
  void aLineThatTheStudyAllowsIsByDesign() {
    Study study = STUDY.toBuilder().allowed(List.of("KV precision")).build();
    List<FairnessLine> sheet = sheet(study, settings("F32", "f16", 2), settings("F32", "f32", 2));

    assertThat(line(sheet, "KV precision").state()).isEqualTo("by design");
    assertThat(FairnessSheet.unexplained(study, sheet, "other", "base")).isEmpty();
  }

  @Test
  void theArithmeticIsAnEnginesOwnAffair() {
    LoadReport.Settings base = TestData.F32_SETTINGS;
    LoadReport.Settings other =
        new LoadReport.Settings(
            base.weights(),
            base.kv(),
            "int8 per 32",
            base.threads(),
            base.affinity(),
            2 * base.batch(),
            base.context(),
            base.flashAttention(),
            base.vocabulary(),
            base.layers(),
            base.parameters());
    List<FairnessLine> sheet = sheet(STUDY, base, other);

    assertThat(line(sheet, "activation precision").state()).isEqualTo("by design");
    assertThat(line(sheet, "tokens a pass").state()).isEqualTo("by design");
    assertThat(FairnessSheet.unexplained(STUDY, sheet, "other", "base")).isEmpty();
  }

  @Test
  void aPairIsJudgedByItself() {
    // The third label's option explains the sheet's line, but not the other two's difference.
    Study study = TestData.with(STUDY, Map.of("third", Map.of("threads", "4")));
    List<FairnessLine> sheet =
        FairnessSheet.of(
            study,
            List.of(
                parity("base", settings("F32", "f16", 2)),
                parity("other", settings("F32", "f16", 1)),
                parity("third", settings("F32", "f16", 4))));

    assertThat(FairnessSheet.unexplained(study, sheet, "other", "base")).containsExactly("threads");
    assertThat(FairnessSheet.unexplained(study, sheet, "third", "base")).isEmpty();
  }
}
