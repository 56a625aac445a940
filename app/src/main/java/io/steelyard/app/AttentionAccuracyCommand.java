package io.steelyard.app;

import io.steelyard.engines.attention.AttentionAccuracy;
import io.steelyard.engines.attention.AttentionAccuracy.Case;
import io.steelyard.engines.attention.AttentionAccuracy.Result;
import io.steelyard.lab.RunException;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.text.Texts;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.reports.Plots;
import io.steelyard.reports.terminal.Format;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "accuracy",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Measures what variants of attention lose in a trained model.",
      "",
      "The model reads windows of a text as ever and with each variant in all of its layers; the"
          + " logits of the second half of each window are compared token by token. Density is the"
          + " share of keys that are seen of those that causality leaves, executed the share of"
          + " scores that are computed, those of choosing what is seen too; mass is the share of"
          + " dense attention's weights that falls on seen keys. The tables stand in the run's"
          + " folder, with plots and every layer and head."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard attention accuracy",
      "  ./steelyard attention accuracy --model default --text book.txt --tokens 4096 --windows 2",
      "  ./steelyard attention accuracy --variants sparse:pattern=learned --density 0.1 --per-layer"
    })
final class AttentionAccuracyCommand implements Callable<Integer> {
  private static final int MOST_WINDOWS = 1000;

  /** What rounding alone changes, the bound of all choices, what is chosen, and what isn't. */
  private static final List<String> USUAL =
      List.of(
          "flash",
          "sparse:pattern=top-k",
          "sparse:pattern=dynamic-threshold",
          "sparse:pattern=learned",
          "sparse:pattern=learned,block=8,share=0.0005,keys=0.0006",
          "block-sparse:pattern=adaptive,block=16",
          "sparse:pattern=local-global,block=16");

  /** What {@code --variants all} adds: the other patterns, and attention in segments. */
  private static final List<String> OTHERS =
      List.of(
          "sparse:pattern=random,block=16",
          "sparse:pattern=block-sparse,block=16",
          "sparse:pattern=strided,block=16",
          "block-sparse:pattern=random,block=16",
          "block-sparse:pattern=local-window,block=16,window=256",
          "block-sparse:pattern=dilated-sparse,block=16",
          "block-sparse:pattern=global-local,block=16,window=256",
          "block-sparse:pattern=hierarchical,block=16",
          "block-sparse:pattern=strided,block=16,window=256",
          "dilated:segments=256/512,rates=1/2",
          "longnet:segments=256/512,rates=1/2");

  private static final List<Double> USUAL_DENSITIES = List.of(0.25, 0.1);

  @Spec CommandSpec spec;

  @Option(
      names = "--windows",
      paramLabel = "N",
      defaultValue = "1",
      description = "at most so many windows, spread over the text")
  int windows;

  @Option(
      names = "--variants",
      paramLabel = "LIST",
      description =
          "variants parted by commas, as 'attention list' tells them (default: the adaptive and"
              + " learned patterns, two fixed ones, and the largest scores of each row; all: every"
              + " pattern)")
  String variants;

  @Option(
      names = "--density",
      paramLabel = "SHARE",
      split = ",",
      description =
          "shares of the keys that variants are to see which take a density or a ratio (default:"
              + " 0.25,0.1)")
  List<Double> densities;

  @Option(
      names = "--ratio",
      paramLabel = "SHARE",
      split = ",",
      description = "shares of the keys that are to be dropped, in place of --density")
  List<Double> ratios;

  @Option(
      names = "--per-layer",
      description = "also with each layer alone having the variant: a pass for each layer more")
  boolean perLayer;

  @Option(
      names = "--runs",
      paramLabel = "DIR",
      defaultValue = "runs",
      description = "where run directories lie")
  Path runs;

  @Option(names = "--json", description = "print accuracy.json on stdout instead of the table")
  boolean json;

  @Mixin WindowOptions window;
  @Mixin ThreadsOption threads;

  /**
   * What was found; printed as JSON.
   *
   * @param text the file, or "steelyard"
   * @param scored tokens
   */
  record Found(
      String command,
      String model,
      String text,
      int tokens,
      int windows,
      long scored,
      List<Result> results,
      double seconds) {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (SteelyardProcess.lacksVectors(Map.of())) {
      return SteelyardProcess.withVectors(spec);
    }
    int tokens = window.tokens();
    StudyOptions.between("--windows", windows, 1, MOST_WINDOWS);
    int team = threads.count();
    List<String> spellings = AttentionSpellings.atDensities(spellings(), shares());
    String written = window.text(Texts.perplexity());
    Console console = new Console();
    ResolvedModel found = window.resolve(console);
    Found result = run(console, found, team, written, tokens, spellings);
    Path folder = RunDirectory.newFolder(runs, "attention-accuracy");
    write(console, folder, result);
    return ExitCode.FINE;
  }

  private List<String> spellings() {
    if (variants == null) {
      return USUAL;
    }
    return variants.equals("all")
        ? Stream.concat(USUAL.stream(), OTHERS.stream()).toList()
        : AttentionSpellings.of(variants);
  }

  /** The densities that were asked for, the largest first. */
  private List<Double> shares() {
    if (densities != null && ratios != null) {
      throw new UsageException("--density and --ratio say the same: give one of them");
    }
    List<Double> asked = densities == null ? USUAL_DENSITIES : densities;
    List<Double> shares = new ArrayList<>();
    for (double given : ratios == null ? asked : ratios) {
      if (!(given > 0 && given < 1)) {
        throw new UsageException(
            "--%s %s: give a share between 0 and 1"
                .formatted(ratios == null ? "density" : "ratio", given));
      }
      shares.add(ratios == null ? given : Math.round((1 - given) * 1e9) / 1e9);
    }
    return shares.stream().distinct().sorted((a, b) -> Double.compare(b, a)).toList();
  }

  private Found run(
      Console console,
      ResolvedModel of,
      int team,
      String written,
      int tokens,
      List<String> spellings) {
    long start = System.nanoTime();
    try (AttentionAccuracy accuracy =
        AttentionOptions.asked(
            () ->
                AttentionAccuracy.load(
                    of.file(), OwnModel.usualTier(), team, written, tokens, windows))) {
      List<Case> cases = new ArrayList<>();
      for (String spelling : spellings) {
        cases.add(new Case(spelling, OptionalInt.empty()));
        for (int layer = 0; perLayer && layer < accuracy.layers(); layer++) {
          cases.add(new Case(spelling, OptionalInt.of(layer)));
        }
      }
      console.note(
          "%s of %d tokens, %s each: dense, and %s of %s"
              .formatted(
                  Format.count(accuracy.windows(), "window"),
                  tokens,
                  Format.count(1 + cases.size(), "time"),
                  Format.count(cases.size(), "case"),
                  Format.count(spellings.size(), "variant")));
      List<Result> results;
      try (Console.Watching watching = console.watch()) {
        results = AttentionOptions.asked(() -> accuracy.run(cases, watching));
      }
      return new Found(
          CommandText.of(spec),
          of.name(),
          window.text == null ? "steelyard" : window.text.toString(),
          tokens,
          accuracy.windows(),
          accuracy.scored(),
          results,
          (System.nanoTime() - start) / 1e9);
    }
  }

  private void write(Console console, Path folder, Found found) throws IOException {
    AttentionAccuracyView view = new AttentionAccuracyView(found);
    try {
      Files.writeString(folder.resolve("accuracy.json"), Json.pretty(found));
      Plots.Result plots = view.page().write(folder);
      plots.problems().forEach(console::note);
    } catch (IOException e) {
      throw new RunException(
          "can't write the report into %s: %s".formatted(folder, RunException.reason(e)), e);
    }
    if (json) {
      console.result(Json.pretty(found));
    } else {
      console.table(view.results().render(console.style()));
      console.blank();
      console.result("Report: " + folder.resolve("report.md"));
    }
  }
}
