package io.steelyard.app;

import io.steelyard.engines.attention.AttentionTraining;
import io.steelyard.kernels.attention.ScorerTraining;
import io.steelyard.lab.RunException;
import io.steelyard.lab.text.Texts;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.reports.terminal.Format;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "train",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Trains the scorer by which the patterns 'learned' choose their blocks.",
      "",
      "A model reads a text; for one in eight blocks of queries of every head the share of attention"
          + " that each block of keys gets is computed, with what the scorer may know of the two"
          + " blocks. The weights are those of the largest likelihood, found by Newton's method:"
          + " the same text and model give the same weights. Without options these are the shipped"
          + " ones; 'attention accuracy' measures on another text."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard attention train",
      "  ./steelyard attention train --model default --text book.txt --out scorer.properties",
      "  ./steelyard attention accuracy --variants block-sparse:pattern=learned,scorer=scorer.properties"
    })
final class AttentionTrainCommand implements Callable<Integer> {
  private static final int MOST_WINDOWS = 64;
  private static final int SMALLEST_BLOCK = 4;

  @Option(
      names = "--windows",
      paramLabel = "N",
      defaultValue = "2",
      description = "at most so many windows, spread over the text")
  int windows;

  @Option(
      names = "--block",
      paramLabel = "N",
      split = ",",
      defaultValue = "8,16",
      description = "sizes of blocks that the scorer is to know")
  List<Integer> blocks;

  @Option(
      names = {"-o", "--out"},
      paramLabel = "FILE",
      description = "where the weights are written; without it, they are printed")
  Path out;

  @Spec CommandSpec spec;
  @Mixin WindowOptions window;
  @Mixin ThreadsOption threads;

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (SteelyardProcess.lacksVectors(Map.of())) {
      return SteelyardProcess.withVectors(spec);
    }
    int tokens = window.tokens();
    StudyOptions.between("--windows", windows, 1, MOST_WINDOWS);
    blocks.forEach(block -> StudyOptions.between("--block", block, SMALLEST_BLOCK, tokens));
    int team = threads.count();
    if (out != null) {
      Models.requireFileToWrite("--out", out);
    }
    String written = window.text(String.join("\n", Texts.prompts()));
    Console console = new Console();
    ResolvedModel found = window.resolve(console);
    AttentionTraining.Result result;
    try (Console.Watching watching = console.watch()) {
      result =
          AttentionOptions.asked(
              () ->
                  AttentionTraining.run(
                      found.file(),
                      OwnModel.usualTier(),
                      team,
                      written,
                      tokens,
                      windows,
                      blocks,
                      watching));
    }
    console.note(
        "%s pairs of blocks from %s of %d tokens; the weights explain %s of what a constant share leaves open"
            .formatted(
                Format.count(result.pairs()),
                Format.count(result.windows(), "window"),
                tokens,
                Format.percent(result.fit().explained(), 1)));
    for (ScorerTraining.Share share : result.fit().shares()) {
      console.note(
          "share=%s keeps %s of these blocks"
              .formatted(Format.scientific(share.share(), 2), Format.percent(share.density(), 0)));
    }
    String weights = result.fit().scorer().text();
    if (out == null) {
      console.result(weights);
      return ExitCode.FINE;
    }
    try {
      Files.writeString(out, weights);
    } catch (IOException e) {
      throw new RunException("can't write %s: %s".formatted(out, RunException.reason(e)), e);
    }
    console.result(out.toString());
    return ExitCode.FINE;
  }
}
