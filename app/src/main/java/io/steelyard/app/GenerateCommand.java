package io.steelyard.app;

import io.steelyard.engines.steelyard.SteelyardProvider;
import io.steelyard.kernels.Tier;
import io.steelyard.lab.worker.DecodeReport;
import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.models.Batch;
import io.steelyard.models.ModelFile;
import io.steelyard.models.Session;
import io.steelyard.models.TextGenerator;
import io.steelyard.models.TextOutput;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.models.sampling.Sampling;
import io.steelyard.models.tokenizer.StopStrings;
import io.steelyard.models.tokenizer.Tokenizer;
import io.steelyard.reports.terminal.Format;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.LongStream;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "generate",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = "Runs a model: text in, text out, streamed as it is generated.",
    footer = {
      "",
      "Examples:",
      "  ./steelyard generate \"Once upon a time\"",
      "  ./steelyard generate --chat --temperature 0.7 \"What weighs more?\"",
      "  ./steelyard generate --temperature 0.8 --typical 0.9 --repeat-penalty 1.1 \"A recipe:\"",
      "  ./steelyard generate --stop \"4.\" \"Three rules. 1.\"",
      "  ./steelyard generate --speculate lookup \"Write a haiku, then write it once more.\"",
      "  ./steelyard generate --batch prompts.txt --parallel 8 -n 64",
      "  ./steelyard generate --diffuse --steps 64 --temperature 0.3 -m dream.gguf \"Why is it so?\"",
      "  ./steelyard generate -e llamacpp -n 32 \"Once upon a time\""
    })
final class GenerateCommand implements Callable<Integer> {
  private static final String SPECULATE = "speculate";
  private static final String OFF = "off";
  private static final String UP_TO_A_STOP = " up to a stop string";

  @Spec private CommandSpec command;

  @Mixin PromptOptions prompt;

  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      defaultValue = "default",
      description =
          "a name of 'model list', a GGUF file, a folder with safetensors, or synth:SHAPE[:TYPE[:SEED]]")
  String model;

  @Option(
      names = {"-e", "--engine"},
      paramLabel = "ENGINE",
      defaultValue = "steelyard",
      description = "the engine")
  String engine;

  @Option(
      names = {"-n", "--tokens"},
      paramLabel = "N",
      defaultValue = "256",
      description = "the most tokens to generate")
  int tokens;

  @Mixin SamplingOptions sampling;

  @ArgGroup(
      exclusive = false,
      heading = "%nMasked diffusion, for models that see both directions:%n")
  DiffusionOptions diffusion;

  @ArgGroup(exclusive = false, heading = "%nMany prompts, processed together:%n")
  BatchOptions batch;

  @Option(
      names = "--stop",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      paramLabel = "TEXT",
      description = "end before this text; may be given several times")
  List<String> stop = List.of();

  @Option(
      names = "--stop-id",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      paramLabel = "ID",
      split = ",",
      description = "end before this token, beside those that end the model's answers")
  List<Integer> stopIds = List.of();

  @Option(
      names = "--speculate",
      paramLabel = "HOW",
      defaultValue = OFF,
      description = {
        "lookup: draft what followed the same tokens before and check the draft in one pass.",
        "The same greedy output, sooner where text repeats, as in edited code; or off"
      })
  String speculate;

  @Mixin ThreadsOption threads;
  @Mixin InterpretOption interpret;

  @Option(
      names = "--kv",
      paramLabel = "TYPE",
      defaultValue = "f16",
      description = "type of the KV cache: f16, f32 or q8_0")
  String kv;

  @Option(
      names = "--deterministic",
      description = {
        "compute the prompt as single tokens are computed, so that a token's result",
        "doesn't depend on how many come with it; the prompt takes longer"
      })
  boolean deterministic;

  @Override
  public Integer call() throws Exception {
    StudyOptions.between("--tokens", tokens, 1, 1 << 20);
    int team = threads.count();
    // What makes no sense is refused before anything is loaded.
    sampling.sampling();
    requireStopStrings();
    StudyOptions.requireKvType(kv);
    if (batch != null) {
      batch.requireAlone(command.commandLine().getParseResult(), prompt);
      return generateBatch(team);
    }
    prompt.require();
    if (diffusion != null) {
      diffusion.requireAlone(command.commandLine().getParseResult());
      return generateInAnyOrder(team);
    }
    String text = withSpeculation();
    EngineSpec asked = StudyOptions.parse(interpret.on(engine));
    boolean own = asked.name().equals(SteelyardProvider.NAME);
    Tier tier = own ? OwnModel.serving(asked.options()) : Tier.VECTOR;
    // This process began without the module of the vector tier, and a worker has it.
    boolean here = OwnModel.runs(asked) && tier.compareTo(Tier.VECTOR) > 0;
    if (!here || !generateHere(tier, team)) {
      generateInWorker(text, team);
    }
    return ExitCode.FINE;
  }

  private int generateInAnyOrder(int team) throws IOException, InterruptedException {
    DiffusedGeneration generation =
        new DiffusedGeneration(
            diffusion.masks(sampling, tokens), diffusion.blocks(), diffusion.mask());
    EngineSpec asked = StudyOptions.parse(interpret.on(engine));
    if (SteelyardProcess.lacksVectors(asked.options())) {
      return SteelyardProcess.withVectors(command);
    }
    generation.run(model, asked, team, kv, prompt);
    return ExitCode.FINE;
  }

  /**
   * Generates in this process.
   *
   * @return whether the model generates token by token
   */
  private boolean generateHere(Tier tier, int team) throws IOException {
    Console console = new Console();
    ResolvedModel resolved = Models.resolve(model, console);
    try (OwnModel own = OwnModel.load(resolved.file(), tier, team, deterministic)) {
      if (!own.model().causal()) {
        return false;
      }
      Tokenizer tokenizer = own.model().tokenizer();
      int[] ids = prompt.ids(tokenizer, own.model().metadata());
      int context = ids.length + tokens;
      Models.checkContext(resolved, context);
      try (Session session = own.model().newSession(context, own.kvType(kv))) {
        TextGenerator generator = new TextGenerator(own.model(), session, sampling.sampling());
        generator.stopAt(stop);
        generator.endAt(ends(tokenizer));
        if (!speculate.equals(OFF)) {
          generator.speculate();
        }
        TextGenerator.Generation answer = generator.generate(ids, tokens, StreamedAnswer::print);
        System.out.println();
        note(console, ids.length, answer);
      }
    }
    return true;
  }

  private void note(Console console, int prompt, TextGenerator.Generation answer) {
    if (answer.tokens() > 0) {
      note(
          console,
          prompt,
          answer.tokens(),
          "%s%s, %.1f tok/s"
              .formatted(
                  answer.stopped() ? UP_TO_A_STOP : "",
                  speculate.equals(OFF) ? "" : " in %d passes".formatted(answer.passes()),
                  answer.tokens() * 1e9 / answer.nanos()));
    }
  }

  private static void note(Console console, int prompt, int tokens, String how) {
    console.note(
        "[%s, %d generated%s]".formatted(Format.count(prompt, "prompt token"), tokens, how));
  }

  /** Generates in a process of an engine's own. */
  private void generateInWorker(String text, int team) throws Exception {
    if (deterministic) {
      text = StudyOptions.withOption(text, "deterministic=on");
    }
    Console console = new Console();
    EngineSpec spec =
        StudyOptions.parse(Engines.prepare(List.of(interpret.on(text)), console).getFirst());
    ResolvedModel resolved = Models.resolve(model, console);
    try (ModelFile file = ModelFile.open(resolved.file())) {
      Tokenizer tokenizer = Tokenizer.of(file.metadata());
      Set<Integer> ends = ends(tokenizer);
      int[] ids = prompt.ids(tokenizer, file.metadata());
      int context = ids.length + tokens;
      Models.checkContext(resolved, context);
      try (AdHocWorker worker = AdHocWorker.start(spec, resolved, team, context, kv)) {
        DecodeRequest request =
            new DecodeRequest(ids, tokens, sampling.request(), false, true, List.copyOf(ends));
        run(console, worker, request, new StreamedAnswer(tokenizer, stop, ends), spec);
      }
    }
  }

  /** The engine, told how to speculate. */
  private String withSpeculation() {
    if (!List.of("lookup", OFF).contains(speculate)) {
      throw new UsageException("--speculate " + speculate + " is neither lookup nor off");
    }
    String text =
        speculate.equals(OFF)
            ? engine
            : StudyOptions.withOption(engine, SPECULATE + "=" + speculate);
    if (sampling.temperature() > 0 && speculates(StudyOptions.parse(text))) {
      throw new UsageException(
          "speculation is for greedy decoding: leave out --temperature, or the speculation");
    }
    return text;
  }

  private static boolean speculates(EngineSpec spec) {
    return !spec.options().getOrDefault(SPECULATE, OFF).equals(OFF);
  }

  private int generateBatch(int team) throws IOException, InterruptedException {
    EngineSpec asked = StudyOptions.parse(engine);
    if (SteelyardProcess.lacksVectors(asked.options())) {
      return SteelyardProcess.withVectors(command);
    }
    Tier tier = OwnModel.tier(BatchOptions.NAME, asked);
    Sampling drawn = sampling.sampling();
    List<BatchPrompt> prompts = batch.prompts(tokens);
    Console console = new Console();
    ResolvedModel resolved = Models.resolve(model, console);
    try (OwnModel own = OwnModel.load(resolved.file(), tier, team, deterministic)) {
      Tokenizer tokenizer = own.model().tokenizer();
      List<int[]> ids = new ArrayList<>();
      int context = 1;
      for (BatchPrompt each : prompts) {
        ids.add(prompt.ids(each.prompt(), tokenizer, own.model().metadata()));
        context = Math.max(context, ids.getLast().length + each.tokens());
      }
      Models.checkContext(resolved, context);
      try (Batch sequences =
          own.model().newBatch(batch.settings(ids.size(), context, own.kvType(kv)))) {
        BatchedGeneration generation = new BatchedGeneration(console, batch.json(), sequences);
        for (int i = 0; i < ids.size(); i++) {
          TextOutput text = new TextOutput(tokenizer, ends(tokenizer), stop, piece -> {});
          generation.add(prompts.get(i), ids.get(i), drawn, text);
        }
        generation.run();
      }
    }
    return ExitCode.FINE;
  }

  private void requireStopStrings() {
    try {
      new StopStrings(stop);
    } catch (IllegalArgumentException e) {
      throw new UsageException("--stop: " + e.getMessage());
    }
  }

  /** The tokens that end the answer and are not shown. */
  private Set<Integer> ends(Tokenizer tokenizer) {
    Set<Integer> ends = new TreeSet<>(tokenizer.endOfGeneration());
    for (int id : stopIds) {
      if (id < 0 || id >= tokenizer.vocabularySize()) {
        throw new UsageException(
            "--stop-id %d is outside the vocabulary of %d; 'model tokenize' tells the ids of a text"
                .formatted(id, tokenizer.vocabularySize()));
      }
      ends.add(id);
    }
    return ends;
  }

  private static void run(
      Console console,
      AdHocWorker worker,
      DecodeRequest request,
      StreamedAnswer answer,
      EngineSpec spec)
      throws WorkerException {
    String how;
    try {
      DecodeReport report = worker.worker().decode(request, answer).value();
      answer.end();
      int n = report.ids().length;
      // The tokens of a pass arrive together.
      String passes =
          speculates(spec)
              ? " in %d passes".formatted(LongStream.of(report.nanos()).distinct().count())
              : "";
      how = n == 0 ? passes : "%s, %.1f tok/s".formatted(passes, n * 1e9 / report.nanos()[n - 1]);
    } catch (StreamedAnswer.StopStringFoundException _) {
      how = UP_TO_A_STOP + answer.rate();
      answer.end();
    }
    if (answer.tokens() > 0) {
      note(console, request.ids().length, answer.tokens(), how);
    }
  }
}
