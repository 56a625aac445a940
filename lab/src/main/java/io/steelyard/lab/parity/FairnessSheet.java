package io.steelyard.lab.parity;

import io.steelyard.lab.record.Summary.FairnessLine;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.LoadReport.Settings;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What was equal between the labels and what was not, as the engines read it back from what they
 * loaded. A line is different by design where the study names it: an engine's own option, a line
 * allowed to differ, or the arithmetic, which is an engine's own affair.
 */
public final class FairnessSheet {
  /** A line of the sheet: the option that names a difference, and where its value comes from. */
  private record Line(
      String name,
      String option,
      boolean ownAffair,
      BiFunction<Study, EngineParity, String> value) {}

  /** The option by which an engine is told to draft tokens; one that lacks it refuses to load. */
  private static final String SPECULATE = "speculate";

  /** Options of models that fill in masks. */
  private static final List<String> FILLING =
      List.of("algorithm", "steps", "block", "cache", "confidence");

  /** Lines in which precisions of one model differ. */
  private static final Set<String> OF_PRECISION = Set.of("weights", "weight precision");

  private static final List<Line> LINES =
      List.of(
          new Line("weights", "", false, (study, engine) -> engine.modelSha256()),
          new Line("token ids", "", false, (study, engine) -> engine.tokenChecksum()),
          new Line("weight precision", "weights", false, of(Settings::weights)),
          new Line("KV precision", "kv", false, of(Settings::kv)),
          new Line("activation precision", "", true, of(Settings::activations)),
          new Line("threads", "threads", false, of(s -> Integer.toString(s.threads()))),
          new Line("affinity", "affinity", false, of(Settings::affinity)),
          new Line("tokens a pass", "", true, of(s -> Integer.toString(s.batch()))),
          new Line("context", "context", false, of(s -> Integer.toString(s.context()))),
          new Line("flash attention", "flash", false, of(s -> s.flashAttention() ? "on" : "off")),
          new Line("speculation", SPECULATE, false, FairnessSheet::speculation),
          // What no other option names: only a label's own options can set it.
          new Line("mask filling", "", true, FairnessSheet::filling),
          new Line("output length", "", false, (study, engine) -> "forced, verified"));

  private FairnessSheet() {}

  /** The names of all lines, in order. */
  public static List<String> lines() {
    return LINES.stream().map(Line::name).toList();
  }

  /** Builds the sheet over all labels that were loaded. */
  public static List<FairnessLine> of(Study study, List<EngineParity> engines) {
    List<FairnessLine> sheet = new ArrayList<>();
    for (Line line : LINES) {
      Map<String, String> values = new LinkedHashMap<>();
      engines.forEach(engine -> values.put(engine.label(), line.value.apply(study, engine)));
      sheet.add(new FairnessLine(line.name, values, state(study, line, values)));
    }
    return sheet;
  }

  /** The lines that keep two labels from being compared. */
  public static List<String> unexplained(
      Study study, List<FairnessLine> sheet, String subject, String baseline) {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < sheet.size(); i++) {
      Map<String, String> pair = new LinkedHashMap<>();
      pair.put(subject, sheet.get(i).values().get(subject));
      pair.put(baseline, sheet.get(i).values().get(baseline));
      if (state(study, LINES.get(i), pair).equals("different")) {
        lines.add(sheet.get(i).line());
      }
    }
    return lines;
  }

  private static String state(Study study, Line line, Map<String, String> values) {
    Set<String> distinct = new LinkedHashSet<>(values.values());
    if (distinct.size() <= 1) {
      return "equal";
    }
    boolean named =
        line.ownAffair
            || (OF_PRECISION.contains(line.name)
                && values.keySet().stream().anyMatch(study::isRecoded))
            || study.allowed().contains(line.name)
            || values.keySet().stream()
                .anyMatch(label -> study.engines().get(label).options().containsKey(line.option));
    return named ? "by design" : "different";
  }

  private static String speculation(Study study, EngineParity engine) {
    return study.engines().get(engine.label()).options().getOrDefault(SPECULATE, "off");
  }

  private static String filling(Study study, EngineParity engine) {
    Map<String, String> options = study.engines().get(engine.label()).options();
    String asked =
        FILLING.stream()
            .filter(options::containsKey)
            .map(option -> option + " " + options.get(option))
            .collect(Collectors.joining(", "));
    return asked.isEmpty() ? "as usual" : asked;
  }

  private static BiFunction<Study, EngineParity, String> of(Function<Settings, String> setting) {
    return (study, engine) -> setting.apply(engine.settings());
  }
}
