package io.steelyard.app;

import io.steelyard.models.synth.PrecisionMix;
import io.steelyard.models.synth.Shape;
import io.steelyard.models.synth.Synth;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "synth",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Writes a model of a known shape with seeded random weights, as a GGUF file.",
      "",
      "Speed and memory are those of the real shape; the text is noise."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard model synth --shape llama-1b --type Q8_0 --out llama-1b.gguf",
      "  ./steelyard model synth --shape llama-1b --type Q4_K_M --out llama-1b-q4.gguf",
      "  ./steelyard model synth --shape llama-135m --type F16 --seed 7 --out a.gguf"
    })
final class ModelSynthCommand implements Callable<Integer> {
  @Option(
      names = "--shape",
      paramLabel = "SHAPE",
      required = true,
      completionCandidates = ShapeNames.class,
      description = "${COMPLETION-CANDIDATES}")
  String shape;

  @Option(
      names = "--type",
      paramLabel = "TYPE",
      defaultValue = "Q8_0",
      description = {
        "F16, BF16, Q8_0, Q4_0, Q4_K_M, Q5_K_M or Q6_K; the last three mix types as llama.cpp's"
            + " quantiser does"
      })
  String type;

  @Option(names = "--seed", paramLabel = "N", defaultValue = "1", description = "of the weights")
  long seed;

  @Option(names = "--out", paramLabel = "FILE", required = true, description = "where to write it")
  Path out;

  /** What the help names. */
  static final class ShapeNames implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Synth.shapes().stream().map(Shape::name).iterator();
    }
  }

  @Override
  public Integer call() {
    Console console = new Console();
    Models.requireFileToWrite("--out", out);
    Shape of = Synth.shapeOf(shape);
    PrecisionMix mix = Synth.mixOf(type);
    try (BytesBar bar = new BytesBar(console, "writing " + out.getFileName())) {
      Synth.write(of, mix, seed, out, bar);
    }
    console.result(out.toString());
    return ExitCode.FINE;
  }
}
