package io.steelyard.app;

import io.steelyard.lab.parity.LayerComparison;
import io.steelyard.lab.parity.LogitsComparison;
import io.steelyard.lab.parity.PrecisionClass;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.text.Texts;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.lab.worker.FloatRows;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Tone;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "parity",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Compares two engines on one model: layer by layer where both can, by logits otherwise.",
      "",
      "Names the first layer of B that leaves its bound around A. The bounds are those of the less"
          + " precise of the two."
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
      description =
          "a name of 'model list', a GGUF file, a folder with safetensors, or synth:SHAPE[:TYPE[:SEED]]")
  String model;

  @Option(
      names = "--model-b",
      paramLabel = "MODEL",
      description = "another model file for B, to find where two files differ")
  String modelB;

  @Mixin ThreadsOption threads;
  @Mixin InterpretOption interpret;

  @Option(
      names = "--kv",
      paramLabel = "TYPE",
      defaultValue = "f32",
      description = "type of the KV cache: f16, f32 or q8_0")
  String kv;

  @Option(names = "--json", description = "print one JSON document on stdout instead of the tables")
  boolean json;

  /**
   * What was found; printed as JSON.
   *
   * @param bounds the precision class whose bounds hold
   * @param shapes why the two can't be compared; empty where they can
   * @param layers empty where either can't tell its layers
   * @param firstLayerOut the first layer out of its bound; empty where none is
   * @param logits empty where the tokens or the shapes already differ
   * @param failures everything that is out of bound
   */
  record Found(
      String a,
      String b,
      String model,
      String modelB,
      String bounds,
      boolean tokensEqual,
      String shapes,
      List<LayerComparison> layers,
      String firstLayerOut,
      Optional<LogitsComparison> logits,
      List<String> failures,
      boolean pass) {}

  @Override
  public Integer call() throws Exception {
    int team = threads.count();
    StudyOptions.requireKvType(kv);
    Console console = new Console();
    List<String> prepared = Engines.prepare(interpret.on(List.of(a, b)), console);
    EngineSpec specA = StudyOptions.parse(prepared.getFirst());
    EngineSpec specB = StudyOptions.parse(prepared.getLast());
    OwnModel.tell(Stream.of(specA, specB));
    ResolvedModel first = Models.resolve(model, console);
    ResolvedModel second = modelB == null ? first : Models.resolve(modelB, console);
    try (AdHocWorker left = AdHocWorker.start(specA, first, team, CONTEXT, kv);
        AdHocWorker right = AdHocWorker.start(specB, second, team, CONTEXT, kv)) {
      // Two engines can agree no better than the less precise of them.
      PrecisionClass bounds =
          PrecisionClass.lessPrecise(
              PrecisionClass.of(left.loaded().settings()),
              PrecisionClass.of(right.loaded().settings()));
      Found found = compare(left, right, first.name(), second.name(), bounds);
      if (json) {
        console.result(Json.pretty(found));
      } else {
        print(console, found, bounds);
      }
      return found.pass() ? ExitCode.FINE : ExitCode.PARITY;
    }
  }

  private Found compare(
      AdHocWorker left, AdHocWorker right, String modelA, String modelOfB, PrecisionClass bounds)
      throws WorkerException, IOException {
    String text = Texts.parity().getFirst();
    int[] ids = left.worker().tokenize(text, false).value();
    boolean tokensEqual = Arrays.equals(ids, right.worker().tokenize(text, false).value());
    List<LayerComparison> layers = List.of();
    Optional<LogitsComparison> logits = Optional.empty();
    List<String> failures = new ArrayList<>();
    String shapes = "";
    if (tokensEqual) {
      shapes = differentShapes(left.loaded().settings(), right.loaded().settings());
      if (shapes.isEmpty() && both(left.worker(), right.worker(), "layers")) {
        try (Layers a1 = Layers.of(left.worker(), ids);
            Layers b1 = Layers.of(right.worker(), ids)) {
          shapes = differentShapes(a1, b1);
          if (shapes.isEmpty()) {
            layers = LayerComparison.of(b1.names(), ids.length, a1.rows(), b1.rows());
          }
        }
      }
      if (shapes.isEmpty()) {
        try (FloatRows a1 = left.worker().logits(ids).value();
            FloatRows b1 = right.worker().logits(ids).value()) {
          shapes = differentShapes("logits", a1, b1);
          if (shapes.isEmpty()) {
            logits =
                Optional.of(
                    LogitsComparison.over(a1.width()).add(a1.segment(), b1.segment()).comparison());
          }
        }
      }
      if (!shapes.isEmpty()) {
        failures.add(shapes);
      }
    } else {
      failures.add("token ids differ on: " + text.strip().lines().findFirst().orElse(""));
    }
    String out =
        layers.stream()
            .filter(layer -> outside(layer, bounds))
            .map(LayerComparison::name)
            .findFirst()
            .orElse("");
    if (!out.isEmpty()) {
      failures.add("layer " + out + " is out of its bound");
    }
    logits.ifPresent(found -> failures.addAll(bounds.failures(found, "")));
    return new Found(
        a,
        b,
        modelA,
        modelOfB,
        bounds.label(),
        tokensEqual,
        shapes,
        shapes.isEmpty() ? layers : List.of(),
        shapes.isEmpty() ? out : "",
        logits,
        failures,
        failures.isEmpty());
  }

  /** Every layer's output of one engine. */
  private record Layers(List<String> names, FloatRows rows) implements AutoCloseable {
    static Layers of(WorkerProcess worker, int[] ids) throws WorkerException {
      WorkerProcess.Layers given = worker.layers(ids).value();
      return new Layers(given.names(), given.rows());
    }

    @Override
    public void close() throws IOException {
      rows.close();
    }
  }

  private static boolean both(WorkerProcess a, WorkerProcess b, String capability) {
    return a.info().capabilities().contains(capability)
        && b.info().capabilities().contains(capability);
  }

  /** Why two models can't be compared at all, in a sentence; empty where they can. */
  static String differentShapes(LoadReport.Settings a, LoadReport.Settings b) {
    List<String> differences = new ArrayList<>();
    if (a.vocabulary() != b.vocabulary()) {
      differences.add("%d against %d logits a position".formatted(a.vocabulary(), b.vocabulary()));
    }
    // 0 layers: the engine can't tell.
    if (a.layers() != b.layers() && a.layers() > 0 && b.layers() > 0) {
      differences.add("%d against %d layers".formatted(a.layers(), b.layers()));
    }
    return notComparable(differences);
  }

  private static String differentShapes(Layers a, Layers b) {
    return a.names().size() != b.names().size()
        ? notComparable(
            List.of("%d against %d layer outputs".formatted(a.names().size(), b.names().size())))
        : differentShapes("layer outputs", a.rows(), b.rows());
  }

  private static String differentShapes(String what, FloatRows a, FloatRows b) {
    return a.rows() == b.rows() && a.width() == b.width()
        ? ""
        : notComparable(
            List.of(
                "%s of [%d, %d] against [%d, %d]"
                    .formatted(what, a.rows(), a.width(), b.rows(), b.width())));
  }

  private static String notComparable(List<String> differences) {
    return differences.isEmpty()
        ? ""
        : "the two models differ in shape, so nothing can be compared: "
            + String.join(", ", differences);
  }

  private static boolean outside(LayerComparison layer, PrecisionClass bounds) {
    return !(layer.relativeError() <= bounds.layerError());
  }

  private void print(Console console, Found found, PrecisionClass bounds) {
    if (found.logits().isEmpty()) {
      String why = found.failures().getFirst();
      console.result(
          Character.toUpperCase(why.charAt(0)) + why.substring(1) + ". Nothing more is compared.");
      return;
    }
    if (!found.layers().isEmpty()) {
      printLayers(console, found, bounds);
    }
    LogitsComparison logits = found.logits().orElseThrow();
    console.result(
        "Logits of %d positions: mean KL %s (bound %s for %s), p99 %s, top-1 %s, RMS Δp %s, max |Δ| %s: %s"
            .formatted(
                logits.positions(),
                Format.scientific(logits.kldMean(), 2),
                Format.scientific(bounds.meanKl(), 1),
                bounds.label(),
                Format.scientific(logits.kldP99(), 2),
                Format.percent(logits.top1(), 1),
                Format.scientific(logits.rmsDeltaP(), 2),
                Format.significant(logits.maxAbs(), 3),
                found.pass() ? "pass" : "FAIL: " + String.join("; ", found.failures())));
  }

  private void printLayers(Console console, Found found, PrecisionClass bounds) {
    Table table =
        new Table(console.style())
            .column("layer", Table.Align.LEFT)
            .column("relative error", Table.Align.RIGHT)
            .column("max |Δ|", Table.Align.RIGHT)
            .column("", Table.Align.LEFT);
    for (LayerComparison layer : found.layers()) {
      table.row(
          Table.Cell.of(layer.name()),
          Table.Cell.of(Format.scientific(layer.relativeError(), 2)),
          Table.Cell.of(Format.scientific(layer.maxAbs(), 2)),
          outside(layer, bounds) ? new Table.Cell("out of bound", Tone.BAD) : Table.Cell.of(""));
    }
    console.table(table.render());
    console.result(
        found.firstLayerOut().isEmpty()
            ? "Every layer is within %s of %s (relative error, %s)"
                .formatted(Format.scientific(bounds.layerError(), 1), a, bounds.label())
            : "The first layer out of its bound of %s (%s) is: %s"
                .formatted(
                    Format.scientific(bounds.layerError(), 1),
                    bounds.label(),
                    found.firstLayerOut()));
  }
}
