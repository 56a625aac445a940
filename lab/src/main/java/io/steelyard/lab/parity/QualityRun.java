package io.steelyard.lab.parity;

import io.steelyard.lab.RunException;
import io.steelyard.lab.RunListener;
import io.steelyard.lab.record.Perplexity;
import io.steelyard.lab.record.Summary.Quality;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.lab.text.Texts;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import io.steelyard.lab.worker.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.ToDoubleBiFunction;

/**
 * What the precisions of a study have lost: each runs windows of Steelyard's text beside the
 * source, in the engine that is measured.
 */
public final class QualityRun {
  /** Tokens of a window, where the context has room for them. */
  private static final int WINDOW = 512;

  private final Study study;
  private final Workers workers;
  private final RunListener listener;

  public QualityRun(Study study, Workers workers, RunListener listener) {
    this.study = study;
    this.workers = workers;
    this.listener = listener;
  }

  /**
   * Of each label that passed parity, the source first.
   *
   * @param engines what the labels did in their parity runs, the source among them
   * @throws RunException if the text can't be read or a model gives no numbers
   */
  public List<Quality> of(Map<String, EngineParity> engines) throws WorkerException {
    String source = study.precisions().orElseThrow().source();
    List<Quality> all = new ArrayList<>();
    int done = 0;
    try (WorkerProcess base = load(source)) {
      TextWindows windows = windows(base);
      for (String label : engines.keySet()) {
        RunListener part = listener.part(done++, engines.size());
        if (!label.equals(source)) {
          try (WorkerProcess worker = load(label)) {
            int vocabulary = engines.get(source).settings().vocabulary();
            TextWindows.Against found = windows.compare(worker, base, vocabulary, part);
            if (all.isEmpty()) {
              all.add(ofSource(engines.get(source), found.other()));
            }
            all.add(quality(engines.get(label), engines.get(source), found));
          }
        }
      }
      return all;
    } catch (IOException e) {
      throw new RunException(
          "can't read the logits that quality is told by: " + RunException.reason(e), e);
    }
  }

  private WorkerProcess load(String label) throws WorkerException {
    Study.Engine engine = study.engines().get(label);
    WorkerProcess worker = workers.start("quality-" + label, engine.name(), engine.options());
    try {
      var _ = workers.on(study.modelOf(label)).load(worker, engine.options());
      return worker;
    } catch (WorkerException | RuntimeException e) {
      worker.close();
      throw e;
    }
  }

  /** Some windows of the text, spread over all of it: each kind of text has its part. */
  private TextWindows windows(WorkerProcess worker) throws WorkerException {
    Study.Precisions precisions = study.precisions().orElseThrow();
    OptionalInt begin = precisions.begin().map(OptionalInt::of).orElseGet(OptionalInt::empty);
    int length = Math.min(WINDOW, study.settings().context());
    List<int[]> all =
        TextWindows.cut(worker.tokenize(Texts.perplexity(), false).value(), length, begin)
            .windows();
    int count = Math.min(precisions.windows(), all.size());
    List<int[]> spread = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      spread.add(all.get(i * all.size() / count));
    }
    return new TextWindows(spread);
  }

  private Quality ofSource(EngineParity source, TextScore score) {
    return new Quality(
        source.label(),
        source.settings().weights(),
        true,
        study.modelOf(source.label()).bytes(),
        score.tokens(),
        score.perplexity(),
        1,
        0,
        0,
        0,
        1,
        1,
        1);
  }

  private Quality quality(EngineParity engine, EngineParity source, TextWindows.Against found) {
    LogitsComparison logits = found.comparison();
    Perplexity ratio = logits.perplexity().orElseThrow();
    return new Quality(
        engine.label(),
        engine.settings().weights(),
        false,
        study.modelOf(engine.label()).bytes(),
        found.own().tokens(),
        found.own().perplexity(),
        ratio.ratio(),
        ratio.error(),
        logits.kldMean(),
        logits.kldP99(),
        logits.top1(),
        texts(engine, source, TextSimilarity::of),
        texts(engine, source, TextSimilarity::agreed));
  }

  /** Mean over what both generated: the timed generations, or else the one of the parity run. */
  private double texts(
      EngineParity engine, EngineParity source, ToDoubleBiFunction<int[], int[]> likeness) {
    return study.workloads().stream()
        .filter(workload -> workload.kind() == Workload.Kind.DECODE)
        .mapToDouble(
            workload ->
                GeneratedTexts.mean(
                    engine.outputs().get(workload.name()),
                    source.outputs().get(workload.name()),
                    likeness))
        .average()
        .orElseGet(() -> likeness.applyAsDouble(engine.generated(), source.generated()));
  }
}
