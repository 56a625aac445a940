package io.steelyard.app;

import io.steelyard.engines.attention.AttentionAccuracy;
import io.steelyard.engines.attention.AttentionAccuracy.Case;
import io.steelyard.engines.attention.AttentionAccuracy.Result;
import io.steelyard.kernels.Kernels;
import io.steelyard.lab.RunException;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.text.Texts;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.reports.Plots;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
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
  /** Of shorter windows nothing can be dropped. */
  static final int FEWEST = 32;

  static final int MOST = 1 << 15;
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

  @Spec CommandSpec spec;

  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      defaultValue = "default",
      description = "a name of 'model list', or a file")
  String model;

  @Option(
      names = "--text",
      paramLabel = "FILE",
      description = "the text, in UTF-8; without it, one of Steelyard's own")
  Path text;

  @Option(
      names = "--tokens",
      paramLabel = "N",
      defaultValue = "2048",
      description = "tokens of a window")
  int tokens;

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
              + " learned patterns, two fixed ones, and the largest scores of each row)")
  String variants;

  @Option(
      names = {"--density"},
      paramLabel = "SHARE",
      split = ",",
      defaultValue = "0.25,0.1",
      description = "shares of the keys that variants are to see which take a density or a ratio")
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
  public Integer call() throws IOException {
    StudyOptions.between("--tokens", tokens, FEWEST, MOST);
    StudyOptions.between("--windows", windows, 1, MOST_WINDOWS);
    int team = threads.count();
    List<String> spellings =
        AttentionSpellings.atDensities(
            variants == null ? USUAL : AttentionSpellings.of(variants), shares());
    String written = text == null ? Texts.perplexity() : Models.text(text);
    Console console = new Console();
    ResolvedModel found = Models.resolve(model, console);
    requireContext(found, tokens);
    Found result = run(console, found, team, written, spellings);
    Path folder = RunDirectory.newFolder(runs, "attention-accuracy");
    write(console, folder, result);
    return ExitCode.FINE;
  }

  /** The densities that were asked for, the largest first. */
  private List<Double> shares() {
    List<Double> shares = new ArrayList<>();
    for (double given : ratios == null ? densities : ratios) {
      if (!(given > 0 && given < 1)) {
        throw new UsageException(
            "--%s %s: give a share between 0 and 1"
                .formatted(ratios == null ? "density" : "ratio", given));
      }
      shares.add(ratios == null ? given : Math.round((1 - given) * 1e9) / 1e9);
    }
    return shares.stream().distinct().sorted((a, b) -> Double.compare(b, a)).toList();
  }

  /** Refuses windows that the model was not made for. */
  static void requireContext(ResolvedModel of, int tokens) {
    long trained = Models.trainedContext(of);
    if (tokens > trained) {
      throw new UsageException(
          "--tokens %d is more than the %d that %s was trained for: give that or less"
              .formatted(tokens, trained, of.name()));
    }
  }

  private Found run(
      Console console, ResolvedModel of, int team, String written, List<String> spellings) {
    long start = System.nanoTime();
    try (AttentionAccuracy accuracy =
        AttentionOptions.asked(
            () ->
                AttentionAccuracy.load(
                    of.file(), Kernels.best(), team, written, tokens, windows))) {
      List<Case> cases = new ArrayList<>();
      for (String spelling : spellings) {
        cases.add(new Case(spelling, OptionalInt.empty()));
        for (int layer = 0; perLayer && layer < accuracy.layers(); layer++) {
          cases.add(new Case(spelling, OptionalInt.of(layer)));
        }
      }
      console.note(
          "%d windows of %d tokens, each %d times: dense, and %d cases of %d variants"
              .formatted(
                  accuracy.windows(), tokens, 1 + cases.size(), cases.size(), spellings.size()));
      List<Result> results;
      try (Console.Watching watching = console.watch()) {
        results = AttentionOptions.asked(() -> accuracy.run(cases, watching));
      }
      return new Found(
          CommandText.of(spec),
          of.name(),
          text == null ? "steelyard" : text.toString(),
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
