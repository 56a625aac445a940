package io.steelyard.lab.parity;

import io.steelyard.lab.parity.EngineParity.Output;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Decides whether a label computes what the oracle computes. */
public final class ParityJudge {
  private final Study study;
  private final Oracle.Results oracle;

  public ParityJudge(Study study, Oracle oracle) {
    this.study = study;
    this.oracle = oracle.results();
  }

  /**
   * Judges one label.
   *
   * @param engine what it did
   * @param baseline what the baseline did; the label itself where there is no other
   */
  public Summary.Parity judge(EngineParity engine, EngineParity baseline) {
    List<String> failures = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    LogitsComparison logits = engine.logits();
    againstOracle(engine, failures, notes);
    boolean same = !study.isRecoded(engine.label()) && !study.isRecoded(baseline.label());
    if (same && engine.tokenMismatch().isEmpty() && !engine.label().equals(baseline.label())) {
      if (sound(baseline)) {
        againstBaseline(engine, baseline, failures, notes);
      } else {
        notes.add("not held against " + baseline.label() + ", which failed parity itself");
      }
    }
    List<String> said = failures.isEmpty() ? notes : failures;
    return new Summary.Parity(
        engine.label(),
        study.model().name(),
        engine.settings().weights(),
        engine.tokenMismatch().isEmpty(),
        logits == null ? null : logits.kldMean(),
        logits == null ? null : logits.kldP99(),
        logits == null ? null : logits.top1(),
        logits == null ? null : logits.maxAbs(),
        logits == null ? Optional.empty() : logits.perplexity(),
        logits == null ? null : logits.kldMean(),
        failures.isEmpty(),
        String.join("; ", said));
  }

  /** Whether a label computes what the oracle computes, whatever the baseline does. */
  boolean sound(EngineParity engine) {
    List<String> failures = new ArrayList<>();
    againstOracle(engine, failures, new ArrayList<>());
    return failures.isEmpty();
  }

  private void againstOracle(EngineParity engine, List<String> failures, List<String> notes) {
    if (!engine.tokenMismatch().isEmpty()) {
      failures.add("its token ids differ on: " + shorten(engine.tokenMismatch()));
      return;
    }
    if (study.isRecoded(engine.label())) {
      againstSource(engine, failures, notes);
      return;
    }
    PrecisionClass bounds = PrecisionClass.of(engine.settings());
    failures.addAll(bounds.failures(engine.logits(), ""));
    if (engine.exact() != null) {
      failures.addAll(PrecisionClass.F32.failures(engine.exact(), " with a float32 KV cache"));
    }
    generation(engine, bounds, failures, notes);
    lengths(engine, failures);
  }

  /** Another precision says something else, by so much at most. */
  private void againstSource(EngineParity engine, List<String> failures, List<String> notes) {
    double most = study.precisions().orElseThrow().mostKl();
    if (!(engine.logits().kldMean() <= most)) {
      failures.add(
          "mean KL to the source %.3g is over the bound of %.3g"
              .formatted(engine.logits().kldMean(), most));
    }
    int at = firstDifference(engine.generated(), oracle.generated());
    if (at >= 0) {
      notes.add(
          "its greedy tokens leave the source's at %d of %d"
              .formatted(at + 1, oracle.generated().length));
    }
    lengths(engine, failures);
  }

  /** Greedy ids must be the oracle's up to the first position that is too close to call. */
  private void generation(
      EngineParity engine, PrecisionClass bounds, List<String> failures, List<String> notes) {
    int[] ids = engine.generated();
    if (ids.length != oracle.generated().length) {
      failures.add(
          "it generated "
              + ids.length
              + " tokens where "
              + oracle.generated().length
              + " were asked for");
      return;
    }
    if (oracle.margins().length == 0) {
      // Masks are filled in by choices of many positions at once, none of which has a margin.
      int at = firstDifference(ids, oracle.generated());
      if (at >= 0) {
        notes.add("it fills in masks otherwise than the oracle from token %d on".formatted(at + 1));
      }
      return;
    }
    for (int i = 0; i < ids.length; i++) {
      if (ids[i] != oracle.generated()[i]) {
        String where =
            "greedy tokens differ from the oracle's at %d of %d, where its margin is %.3g"
                .formatted(i + 1, ids.length, oracle.margins()[i]);
        (oracle.margins()[i] > bounds.margin() ? failures : notes).add(where);
        return;
      }
    }
  }

  private void lengths(EngineParity engine, List<String> failures) {
    study.workloads().stream()
        .filter(workload -> workload.kind() == Workload.Kind.DECODE)
        .forEach(
            workload -> {
              for (Output output : engine.outputs().get(workload.name())) {
                if (output.ids().length != workload.generate()) {
                  failures.add(
                      "it generated %d tokens where %d were forced"
                          .formatted(output.ids().length, workload.generate()));
                  return;
                }
              }
            });
  }

  private void againstBaseline(
      EngineParity engine, EngineParity baseline, List<String> failures, List<String> notes) {
    // Two that differ are both off from the truth, the less precise one further.
    double bound =
        PrecisionClass.lessPrecise(
                PrecisionClass.of(engine.settings()), PrecisionClass.of(baseline.settings()))
            .margin();
    for (String workload : engine.outputs().keySet()) {
      List<Output> outputs = engine.outputs().get(workload);
      List<Output> others = baseline.outputs().getOrDefault(workload, List.of());
      for (int prompt = 0; prompt < Math.min(outputs.size(), others.size()); prompt++) {
        Output output = outputs.get(prompt);
        Output other = others.get(prompt);
        int at = firstDifference(output.ids(), other.ids());
        if (at < 0 || (output.margins().length <= at && other.margins().length <= at)) {
          continue;
        }
        double margin = Math.min(margin(output, at), margin(other, at));
        String where =
            "%s, prompt %d: differs from %s at token %d, where the margin is %.3g"
                .formatted(workload, prompt + 1, baseline.label(), at + 1, margin);
        (margin > bound ? failures : notes).add(where);
      }
    }
    if (notes.size() > 2) {
      int more = notes.size() - 1;
      notes.subList(1, notes.size()).clear();
      notes.add(more + " more close calls like it");
    }
  }

  /** The margin of a token; infinite where the engine didn't tell it. */
  private static double margin(Output output, int at) {
    return output.margins().length > at ? output.margins()[at] : Double.POSITIVE_INFINITY;
  }

  private static int firstDifference(int[] a, int[] b) {
    for (int i = 0; i < Math.min(a.length, b.length); i++) {
      if (a[i] != b[i]) {
        return i;
      }
    }
    return -1;
  }

  private static String shorten(String text) {
    return text.length() <= 40 ? text : text.substring(0, 40) + "…";
  }
}
