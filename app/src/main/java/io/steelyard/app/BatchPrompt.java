package io.steelyard.app;

import io.steelyard.lab.RunException;
import io.steelyard.lab.record.Json;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;

/**
 * A prompt of a file of prompts.
 *
 * @param tokens the most to generate
 */
record BatchPrompt(String prompt, int tokens) {
  private static final long MOST_BYTES = 64 << 20;

  /** A line that is JSON. */
  private record Line(String prompt, Optional<Integer> tokens) {}

  /**
   * Reads a file with a prompt a line, as plain text or as JSON: {@code {"prompt": "…", "tokens":
   * 32}}. Empty lines are passed over.
   *
   * @param tokens the most to generate where a line doesn't say
   * @throws UsageException if it can't be read, holds no prompt, or a line is no such JSON
   */
  static List<BatchPrompt> read(Path file, int tokens) {
    List<BatchPrompt> prompts = new ArrayList<>();
    List<String> lines = lines(file);
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      if (line.startsWith("{")) {
        prompts.add(parse(line, tokens, "%s, line %d".formatted(file, i + 1)));
      } else if (!line.isBlank()) {
        prompts.add(new BatchPrompt(line, tokens));
      }
    }
    if (prompts.isEmpty()) {
      throw new UsageException(
          "--batch %s holds no prompt: write one on each line".formatted(file));
    }
    return prompts;
  }

  private static BatchPrompt parse(String text, int tokens, String where) {
    try {
      Line line = Json.read(text, Line.class);
      int most = line.tokens().orElse(tokens);
      StudyOptions.between(where + ": tokens", most, 1, 1 << 20);
      if (line.prompt() != null) {
        return new BatchPrompt(line.prompt(), most);
      }
    } catch (JacksonException _) {
      // Refused below, as a prompt that is null is.
    }
    throw new UsageException(
        "--batch %s is no JSON object with a prompt: write {\"prompt\": \"…\"}, or plain text"
            .formatted(where));
  }

  private static List<String> lines(Path file) {
    try {
      if (Files.size(file) > MOST_BYTES) {
        throw new UsageException(
            "--batch %s: %d bytes are more than the %d that can be used; cut it into several"
                .formatted(file, Files.size(file), MOST_BYTES));
      }
      return Files.readAllLines(file);
    } catch (CharacterCodingException e) {
      throw new UsageException("--batch " + file + " is no text in UTF-8");
    } catch (IOException e) {
      throw new UsageException("--batch " + file + ": " + RunException.reason(e));
    }
  }
}
