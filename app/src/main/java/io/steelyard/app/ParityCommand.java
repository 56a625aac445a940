package io.steelyard.app;

import io.steelyard.lab.parity.LayerComparison;
import io.steelyard.lab.parity.LogitsComparison;
import io.steelyard.lab.parity.PrecisionClass;
import io.steelyard.lab.text.Texts;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.lab.worker.FloatRows;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Tone;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "parity",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Compares two engines on one model: layer by layer where both can, by logits otherwise.",
      "",
      "Names the first layer of B that leaves its bound around A."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard parity steelyard:tier=reference steelyard:tier=vector",
      "  ./steelyard parity steelyard:tier=reference llamacpp --model model.gguf"
    })
final class ParityCommand implements Callable<Integer> {
  private static final int CONTEXT = 256;

  @Parameters(index = "0", paramLabel = "A", description = "the engine that counts as right")
  String a;

  @Parameters(index = "1", paramLabel = "B", description = "the engine that is held against it")
  String b;

  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      defaultValue = "default",
      description = "a name of 'model list', a GGUF file, or synth:SHAPE[:TYPE[:SEED]]")
  String model;

  @Option(
      names = "--model-b",
      paramLabel = "MODEL",
      description = "another model file for B, to find where two files differ")
  String modelB;

  @Option(
      names = {"-t", "--threads"},
      paramLabel = "N",
      defaultValue = "0",
      description = "compute threads; 0: all processors")
  int threads;

  @Option(
      names = "--kv",
      paramLabel = "TYPE",
      defaultValue = "f32",
      description = "type of the KV cache: f16 or f32")
  String kv;

  @Override
  public Integer call() throws Exception {
    StudyOptions.between("--threads", threads, 0, 1024);
    Console console = new Console();
    List<String> prepared = Engines.prepare(List.of(a, b), console);
    EngineSpec specA = StudyOptions.parse(prepared.getFirst());
    EngineSpec specB = StudyOptions.parse(prepared.getLast());
    ResolvedModel first = Models.resolve(model, console);
    ResolvedModel second = modelB == null ? first : Models.resolve(modelB, console);
    try (AdHocWorker left = AdHocWorker.start(specA, first, threads, CONTEXT, kv);
        AdHocWorker right = AdHocWorker.start(specB, second, threads, CONTEXT, kv)) {
      String text = Texts.parity().getFirst();
      int[] ids = left.worker().tokenize(text, false).value();
      int[] others = right.worker().tokenize(text, false).value();
      if (!java.util.Arrays.equals(ids, others)) {
        console.result("Token ids differ, so nothing more is compared: " + text.strip());
        return ExitCode.PARITY;
      }
      PrecisionClass bounds = PrecisionClass.of(right.loaded().settings());
      boolean layersPass =
          !both(left.worker(), right.worker(), "layers")
              || layers(console, left.worker(), right.worker(), ids, bounds);
      boolean logitsPass = logits(console, left.worker(), right.worker(), ids, bounds);
      return layersPass && logitsPass ? ExitCode.FINE : ExitCode.PARITY;
    }
  }

  private static boolean both(WorkerProcess a, WorkerProcess b, String capability) {
    return a.info().capabilities().contains(capability)
        && b.info().capabilities().contains(capability);
  }

  private static boolean layers(
      Console console, WorkerProcess a, WorkerProcess b, int[] ids, PrecisionClass bounds)
      throws WorkerException, IOException {
    try (FloatRows left = a.layers(ids).value().rows()) {
      WorkerProcess.Layers right = b.layers(ids).value();
      try (FloatRows rows = right.rows()) {
        List<LayerComparison> layers = LayerComparison.of(right.names(), ids.length, left, rows);
        Table table =
            new Table(console.style())
                .column("layer", Table.Align.LEFT)
                .column("relative error", Table.Align.RIGHT)
                .column("max |Δ|", Table.Align.RIGHT)
                .column("", Table.Align.LEFT);
        String broken = "";
        for (LayerComparison layer : layers) {
          boolean inside = layer.relativeError() <= bounds.layerError();
          if (!inside && broken.isEmpty()) {
            broken = layer.name();
          }
          table.row(
              Table.Cell.of(layer.name()),
              Table.Cell.of(Format.scientific(layer.relativeError(), 2)),
              Table.Cell.of(Format.scientific(layer.maxAbs(), 2)),
              inside ? Table.Cell.of("") : new Table.Cell("out of bound", Tone.BAD));
        }
        console.result(table.render());
        console.result(
            broken.isEmpty()
                ? "Every layer is within %s of %s (relative error, %s)"
                    .formatted(
                        Format.scientific(bounds.layerError(), 1),
                        a.info().engine(),
                        bounds.label())
                : "The first layer out of its bound of %s is: %s"
                    .formatted(Format.scientific(bounds.layerError(), 1), broken));
        return broken.isEmpty();
      }
    }
  }

  private static boolean logits(
      Console console, WorkerProcess a, WorkerProcess b, int[] ids, PrecisionClass bounds)
      throws WorkerException, IOException {
    try (FloatRows left = a.logits(ids).value();
        FloatRows right = b.logits(ids).value()) {
      LogitsComparison comparison =
          LogitsComparison.over(left.width()).add(left.segment(), right.segment()).comparison();
      boolean pass = comparison.kldMean() <= bounds.meanKl();
      console.result(
          "Logits of %d positions: mean KL %s (bound %s for %s), p99 %s, top-1 %s, RMS Δp %s, max |Δ| %s: %s"
              .formatted(
                  comparison.positions(),
                  Format.scientific(comparison.kldMean(), 2),
                  Format.scientific(bounds.meanKl(), 1),
                  bounds.label(),
                  Format.scientific(comparison.kldP99(), 2),
                  Format.percent(comparison.top1(), 1),
                  Format.scientific(comparison.rmsDeltaP(), 2),
                  Format.significant(comparison.maxAbs(), 3),
                  pass ? "pass" : "FAIL"));
      return pass;
    }
  }
}
