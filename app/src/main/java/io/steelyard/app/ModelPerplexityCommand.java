package io.steelyard.app;

import io.steelyard.lab.parity.LogitsComparison;
import io.steelyard.lab.parity.TextScore;
import io.steelyard.lab.parity.TextWindows;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.Perplexity;
import io.steelyard.lab.text.Texts;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.models.ModelFile;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.models.tokenizer.Tokenizer;
import io.steelyard.reports.terminal.Format;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "perplexity",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Tells how well a model foresees a text.",
      "",
      "Counts as llama-perplexity does: the text's tokens are cut into windows of N, what is left"
          + " over is not used, and each window is run from an empty cache. Of a window the tokens"
          + " N/2+1 to N-1 are scored, counted from 0, each by the probability that the model gave"
          + " it after all those before it in the window. Where the model expects a token for the"
          + " start of a text, that stands before the text and in place of each window's first"
          + " token. Control tokens in the text are not parsed.",
      "",
      "Perplexity is exp of the mean negative log-likelihood; ± is its standard error, that of the"
          + " mean times the perplexity, as if the tokens were independent. With --against, the"
          + " ratio's error is that of the differences token by token, and KL, top-1 and Δp hold"
          + " MODEL's probabilities at the scored places against the other's, as 'parity' does."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard model perplexity default",
      "  ./steelyard model perplexity model-q4.gguf --against model-f16.gguf --text book.txt"
    })
final class ModelPerplexityCommand implements Callable<Integer> {
  private static final int MOST_CONTEXT = 1 << 20;

  @Parameters(paramLabel = "MODEL", description = "a name of 'model list', or a GGUF file")
  String model;

  @Option(
      names = "--text",
      paramLabel = "FILE",
      description = "the text, in UTF-8; without it, one of Steelyard's own")
  Path text;

  @Option(
      names = "--context",
      paramLabel = "N",
      defaultValue = "512",
      description = "tokens of a window")
  int context;

  @Option(
      names = "--against",
      paramLabel = "MODEL",
      description = "the model that counts as right, such as the same one unquantised")
  String against;

  @Option(
      names = {"-e", "--engine"},
      paramLabel = "ENGINE",
      defaultValue = "steelyard",
      description = "the engine that runs both")
  String engine;

  @Option(
      names = "--kv",
      paramLabel = "TYPE",
      defaultValue = "f16",
      description = "type of the KV cache: f16, f32 or q8_0")
  String kv;

  @Mixin ThreadsOption threads;
  @Mixin InterpretOption interpret;

  @Option(names = "--json", description = "print one JSON document on stdout instead of the lines")
  boolean json;

  /**
   * What was found; printed as JSON.
   *
   * @param text the file, or "steelyard"
   * @param tokens how many were scored
   * @param error standard error of the perplexity
   */
  record Found(
      String model,
      String engine,
      String kv,
      String text,
      int context,
      int windows,
      long tokens,
      double perplexity,
      double error,
      Optional<Other> against,
      double seconds) {}

  /** What was found of the other model, and against it. */
  record Other(
      String model,
      double perplexity,
      double error,
      double ratio,
      double ratioError,
      double kldMean,
      double kldP99,
      double top1,
      double rmsDeltaP) {
    static Other of(String model, TextWindows.Against found) {
      LogitsComparison comparison = found.comparison();
      Perplexity ratio = comparison.perplexity().orElseThrow();
      return new Other(
          model,
          found.other().perplexity(),
          found.other().error(),
          ratio.ratio(),
          ratio.error(),
          comparison.kldMean(),
          comparison.kldP99(),
          comparison.top1(),
          comparison.rmsDeltaP());
    }
  }

  @Override
  public Integer call() throws Exception {
    StudyOptions.between("--context", context, TextWindows.SHORTEST, MOST_CONTEXT);
    int team = threads.count();
    StudyOptions.requireKvType(kv);
    String written = text == null ? Texts.perplexity() : Models.text(text);
    if (written.isBlank()) {
      throw new UsageException("--text " + text + " is empty: give one with words in it");
    }
    Console console = new Console();
    EngineSpec spec =
        StudyOptions.parse(Engines.prepare(List.of(interpret.on(engine)), console).getFirst());
    OwnModel.tell(Stream.of(spec));
    ResolvedModel own = Models.resolve(model, console);
    requireContext(own);
    TextWindows windows = windows(own, written);
    Found found;
    if (against == null) {
      found = score(console, spec, own, team, windows);
    } else {
      ResolvedModel other = Models.resolve(against, console);
      requireContext(other);
      requireSameTokens(windows, other, written);
      found = compare(console, spec, own, other, team, windows);
    }
    if (json) {
      console.result(Json.pretty(found));
    } else {
      print(console, found);
    }
    return ExitCode.FINE;
  }

  private void requireContext(ResolvedModel of) {
    long trained = Models.trainedContext(of);
    if (context > trained) {
      throw new UsageException(
          "--context %d is more than the %d that %s was trained for: give that or less"
              .formatted(context, trained, of.name()));
    }
  }

  private TextWindows windows(ResolvedModel of, String written) {
    try (ModelFile file = ModelFile.open(of.file())) {
      Tokenizer tokenizer = Tokenizer.of(file.metadata());
      int[] ids = tokenizer.encode(written, false);
      OptionalInt begin = tokenizer.addBos() ? tokenizer.bos() : OptionalInt.empty();
      try {
        return TextWindows.cut(ids, context, begin);
      } catch (IllegalArgumentException e) {
        throw new UsageException(
            "the text is too short: %s; give a longer --text or a smaller --context"
                .formatted(e.getMessage()));
      }
    }
  }

  private void requireSameTokens(TextWindows own, ResolvedModel other, String written) {
    if (!Arrays.deepEquals(
        own.windows().toArray(int[][]::new),
        windows(other, written).windows().toArray(int[][]::new))) {
      throw new UsageException(
          "--against %s: it cuts the text into other tokens than %s, so nothing can be compared token by token; give a model with the same vocabulary"
              .formatted(against, model));
    }
  }

  private Found score(
      Console console, EngineSpec spec, ResolvedModel own, int team, TextWindows windows)
      throws Exception {
    try (AdHocWorker worker = AdHocWorker.start(spec, own, team, context, kv);
        Console.Watching watching = console.watch()) {
      long start = System.nanoTime();
      TextScore score = windows.score(worker.worker(), vocabulary(worker), watching);
      return found(own, windows, score, Optional.empty(), System.nanoTime() - start);
    }
  }

  private Found compare(
      Console console,
      EngineSpec spec,
      ResolvedModel own,
      ResolvedModel other,
      int team,
      TextWindows windows)
      throws Exception {
    try (AdHocWorker worker = AdHocWorker.start(spec, own, team, context, kv);
        AdHocWorker base = AdHocWorker.start(spec, other, team, context, kv);
        Console.Watching watching = console.watch()) {
      if (vocabulary(worker) != vocabulary(base)) {
        throw new UsageException(
            "--against %s: it has %d logits a position, %s has %d; give a model with the same vocabulary"
                .formatted(against, vocabulary(base), model, vocabulary(worker)));
      }
      long start = System.nanoTime();
      TextWindows.Against found =
          windows.compare(worker.worker(), base.worker(), vocabulary(worker), watching);
      return found(
          own,
          windows,
          found.own(),
          Optional.of(Other.of(other.name(), found)),
          System.nanoTime() - start);
    }
  }

  private static int vocabulary(AdHocWorker worker) {
    return worker.loaded().settings().vocabulary();
  }

  private Found found(
      ResolvedModel own, TextWindows windows, TextScore score, Optional<Other> other, long nanos) {
    return new Found(
        own.name(),
        engine,
        kv,
        text == null ? "steelyard" : text.toString(),
        context,
        windows.windows().size(),
        score.tokens(),
        score.perplexity(),
        score.error(),
        other,
        nanos / 1e9);
  }

  private static void print(Console console, Found found) {
    console.result(
        "perplexity %.4f ± %.4f (%s scored, %s of %d, %s)"
            .formatted(
                found.perplexity(),
                found.error(),
                Format.count(found.tokens(), "token"),
                Format.count(found.windows(), "window"),
                found.context(),
                Format.duration((long) (found.seconds() * TimeUnit.SECONDS.toNanos(1)))));
    found
        .against()
        .ifPresent(
            other -> {
              console.result(
                  "%s: perplexity %.4f ± %.4f"
                      .formatted(other.model(), other.perplexity(), other.error()));
              console.result(
                  "ratio %.5f ± %.5f, mean KL %s, p99 %s, top-1 %s, RMS Δp %s"
                      .formatted(
                          other.ratio(),
                          other.ratioError(),
                          Format.scientific(other.kldMean(), 2),
                          Format.scientific(other.kldP99(), 2),
                          Format.percent(other.top1(), 2),
                          Format.percent(other.rmsDeltaP(), 2)));
            });
  }
}
