package io.steelyard.app;

import io.steelyard.kernels.Tier;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.models.Model;
import io.steelyard.models.ModelFile;
import io.steelyard.models.Session;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.models.diffusion.Blocks;
import io.steelyard.models.diffusion.Diffusion;
import io.steelyard.models.diffusion.DiffusionDecoder;
import io.steelyard.models.tokenizer.Tokenizer;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.LiveText;
import io.steelyard.reports.terminal.Terminal;
import java.util.OptionalInt;

/**
 * One answer by masked diffusion, in this process.
 *
 * @param mask the mask's id; empty where the file says it
 */
record DiffusedGeneration(Diffusion diffusion, Blocks blocks, OptionalInt mask) {
  /** Generates, and shows how the text settles, then the text and how long it took. */
  void run(String name, EngineSpec engine, int threads, String kv, PromptOptions prompt) {
    Tier tier = OwnModel.tier("--diffuse", engine);
    Console console = new Console();
    ResolvedModel resolved = Models.resolve(name, console);
    int[] ids;
    try (ModelFile file = ModelFile.open(resolved.file())) {
      ids = prompt.ids(Tokenizer.of(file.metadata()), file.metadata());
    }
    int context = ids.length + diffusion.tokens();
    Models.checkContext(resolved, context);
    try (OwnModel own = OwnModel.load(resolved.file(), tier, threads, false);
        Session session = own.model().newSession(context, own.kvType(kv))) {
      DiffusionDecoder.requireBothDirections(session);
      console.note(answer(session, own.model(), ids));
    }
  }

  private String answer(Session session, Model model, int[] prompt) {
    int masked = maskOf(model);
    DiffusionDecoder decoder = new DiffusionDecoder(session, masked);
    SettlingText text = new SettlingText(model, masked, prompt.length);
    Terminal out = Terminal.out();
    long start;
    long nanos;
    int[] sequence;
    int steps;
    try (LiveText live = LiveText.on(out)) {
      int[] passes = new int[1];
      start = System.nanoTime();
      sequence =
          decoder.generate(
              prompt,
              diffusion,
              blocks,
              (step, _, settling) -> {
                passes[0] = step + 1;
                if (out.interactive()) {
                  live.show(text.soFar(settling, out.style().unicode() ? "░" : "_"));
                }
              });
      nanos = System.nanoTime() - start;
      steps = passes[0];
    }
    out.stream().println(text.answer(sequence));
    int shown = text.answerTokens(sequence);
    return "[%s, %d generated%s in %d steps, %.2f tokens a forward, %.1f tok/s]"
        .formatted(
            Format.count(prompt.length, "prompt token"),
            diffusion.tokens(),
            shown < diffusion.tokens() ? " (%d before the end)".formatted(shown) : "",
            steps,
            (double) diffusion.tokens() / steps,
            diffusion.tokens() * 1e9 / nanos);
  }

  private int maskOf(Model model) {
    int vocabulary = model.config().vocabulary();
    OptionalInt known = mask.isPresent() ? mask : DiffusionDecoder.mask(model.metadata());
    if (known.isEmpty()) {
      throw new UsageException(
          "the model's file doesn't say which token is the mask (%s): give its id with --mask-id"
              .formatted(DiffusionDecoder.MASK_KEY));
    }
    int id = known.getAsInt();
    if (id < 0 || id >= vocabulary) {
      throw new UsageException(
          "the mask's id %d is outside the vocabulary of %d: give another with --mask-id"
              .formatted(id, vocabulary));
    }
    return id;
  }
}
