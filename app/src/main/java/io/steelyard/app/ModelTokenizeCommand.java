package io.steelyard.app;

import io.steelyard.lab.record.Json;
import io.steelyard.models.ModelFile;
import io.steelyard.models.tokenizer.Tokenizer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JacksonException;

@Command(
    name = "tokenize",
    mixinStandardHelpOptions = true,
    description = {
      "Turns text into token ids with a model's own tokenizer.",
      "",
      "Reads JSON strings, one a line, from stdin; writes JSON arrays of ids, one a line. Adds no"
          + " token at the start unless --bos is given."
    },
    footer = {"", "Example:", "  echo '\"Hello world\"' | ./steelyard model tokenize default"})
final class ModelTokenizeCommand implements Callable<Integer> {
  @Parameters(
      paramLabel = "MODEL",
      description = "a name of 'model list', a GGUF file, or a folder with safetensors")
  String model;

  @Option(names = "--special", description = "parse control tokens written in the text")
  boolean special;

  @Option(names = "--bos", description = "begin with the model's token for the start of text")
  boolean bos;

  @Override
  public Integer call() throws IOException {
    Console console = new Console();
    try (ModelFile file = ModelFile.open(Models.resolve(model, console).file())) {
      Tokenizer tokenizer = Tokenizer.of(file.metadata());
      if (bos && tokenizer.bos().isEmpty()) {
        throw new UsageException("--bos: this model has no token for the start of text");
      }
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      int number = 0;
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        number++;
        console.result(Json.line(ids(tokenizer, line, number)));
      }
    }
    return ExitCode.FINE;
  }

  private int[] ids(Tokenizer tokenizer, String line, int number) {
    String text;
    try {
      text = Json.read(line, String.class);
    } catch (JacksonException e) {
      throw new UsageException(
          "line "
              + number
              + " of stdin is no JSON string: write each text as \"…\" on a line of its own");
    }
    if (text == null) {
      throw new UsageException("line " + number + " of stdin is null, not a JSON string");
    }
    int[] ids = tokenizer.encode(text, special);
    return bos
        ? IntStream.concat(IntStream.of(tokenizer.bos().getAsInt()), IntStream.of(ids)).toArray()
        : ids;
  }
}
