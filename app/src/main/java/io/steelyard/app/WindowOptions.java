package io.steelyard.app;

import io.steelyard.models.catalogue.ResolvedModel;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Which model reads windows of which text. */
final class WindowOptions {
  /** Of shorter windows nothing can be dropped. */
  private static final int FEWEST = 32;

  private static final int MOST = 1 << 15;

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
  private int tokens;

  /** Tokens of a window. */
  int tokens() {
    StudyOptions.between("--tokens", tokens, FEWEST, MOST);
    return tokens;
  }

  /** The text that was asked for, or Steelyard's own. */
  String text(String own) {
    return text == null ? own : Models.text(text);
  }

  /** The model, which must have been made for such windows. */
  ResolvedModel resolve(Console console) {
    ResolvedModel found = Models.resolve(model, console);
    long trained = Models.trainedContext(found);
    if (tokens > trained) {
      throw new UsageException(
          "--tokens %d is more than the %d that %s was trained for: give that or less"
              .formatted(tokens, trained, found.name()));
    }
    return found;
  }
}
