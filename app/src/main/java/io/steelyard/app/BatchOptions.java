package io.steelyard.app;

import io.steelyard.kernels.DataType;
import io.steelyard.models.Batch;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;

/** How {@code generate --batch} goes on with many prompts. */
final class BatchOptions {
  static final String NAME = "--batch";

  private static final int MOST_PARALLEL = 1024;

  @Option(
      names = NAME,
      paramLabel = "FILE",
      required = true,
      description = {
        "go on with every prompt of this file, a line each: plain text, or JSON with \"prompt\"",
        "and, where it differs from --tokens, \"tokens\". Answers come in the file's order"
      })
  private Path file;

  @Option(
      names = "--parallel",
      paramLabel = "N",
      defaultValue = "8",
      description = "prompts that are processed together; the next begins when one is done")
  private int parallel;

  @Option(
      names = "--share-prefixes",
      description = {
        "process what prompts begin with in common once; the same answers with --deterministic,",
        "close to the same without"
      })
  private boolean sharing;

  @Option(
      names = "--json",
      description = "print a JSON object a line: prompt, text, counts, and what ended it")
  private boolean json;

  /**
   * Refuses what many prompts don't go with.
   *
   * @throws UsageException if it is there
   */
  void requireAlone(ParseResult parsed, PromptOptions prompt) {
    if (prompt.given()) {
      throw new UsageException("--batch has its prompts from the file: leave the prompt out");
    }
    for (String other : List.of("--speculate", "--diffuse")) {
      if (parsed.hasMatchedOption(other)) {
        throw new UsageException(other + " is for one prompt: leave it or --batch out");
      }
    }
    StudyOptions.between("--parallel", parallel, 1, MOST_PARALLEL);
  }

  /** The file's prompts. */
  List<BatchPrompt> prompts(int tokens) {
    return BatchPrompt.read(file, tokens);
  }

  boolean json() {
    return json;
  }

  /** The batch for so many prompts. */
  Batch.Settings settings(int prompts, int context, DataType kv) {
    return new Batch.Settings(Math.min(parallel, prompts), context, kv, sharing);
  }
}
