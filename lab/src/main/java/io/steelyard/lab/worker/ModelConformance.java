package io.steelyard.lab.worker;

import static io.steelyard.lab.worker.Conformance.require;

import io.steelyard.lab.worker.Conformance.Broken;
import io.steelyard.lab.worker.LoadReport.Settings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The points of {@link Conformance} that need a loaded model. */
final class ModelConformance {
  private static final String TEXT = "A steelyard weighs heavy things with a small counterweight.";
  static final int CONTEXT = 64;
  private static final int PROMPT = 12;
  private static final int TOKENS = 8;

  /**
   * How far below the largest logit a chosen token may lie, as a share of the row's spread: prefill
   * and decode multiply in another order, and at 4 bits of precision that shows.
   */
  private static final float TOLERANCE = 0.02f;

  private final Conformance conformance;
  private final WorkerProcess worker;
  private final LoadRequest request;
  private final boolean modelGiven;
  private Settings settings;
  private int[] prompt;

  ModelConformance(
      Conformance conformance, WorkerProcess worker, LoadRequest request, boolean modelGiven) {
    this.conformance = conformance;
    this.worker = worker;
    this.request = request;
    this.modelGiven = modelGiven;
  }

  void run() {
    point("loads a model", this::load);
    if (settings == null) {
      conformance.skip("serves a model", "no model is loaded");
      return;
    }
    point("turns text into ids", this::tokenize);
    point("gives finite logits of every position", this::logits);
    point("prefill chooses the largest logit", this::prefill);
    point("prefill at a depth gives what the whole gives", this::depth);
    point("decode gives as many tokens as asked for", this::length);
    point("decode's times rise and lie inside the call", this::times);
    point("decode chooses the largest logits", this::chain);
    point("greedy decoding repeats itself", this::repeats);
    point("gives margins when asked", this::margins);
    point("tells tokens as they come when asked", this::stream);
    point("refuses an id outside the vocabulary", this::outside);
    point("refuses no ids at all", this::noIds);
    point("refuses more than its context holds", this::tooLong);
    point("refuses a depth that leaves nothing to do", this::wholeDepth);
    point("forgets on reset", this::reset);
    capability("forward", "a batch gives the same twice", this::forward);
    capability("layers", "gives finite outputs of every layer", this::layers);
    point("survives a second load", this::secondLoad);
  }

  private void point(String name, Conformance.Point point) {
    conformance.point(worker, name, point);
  }

  private void capability(String capability, String name, Conformance.Point point) {
    if (worker.info().capabilities().contains(capability)) {
      point(name, point);
    } else {
      conformance.skip(name, "the engine does not claim '" + capability + "'");
    }
  }

  private String load() throws WorkerException, Broken {
    Settings loaded;
    try {
      loaded = worker.load(request).value().settings();
    } catch (WorkerException e) {
      if (!modelGiven && e.refusal().equals(Optional.of(EngineException.Kind.BAD_MODEL))) {
        return "refused a file of text as it should; give a model to check the rest";
      }
      require(
          !e.unsupported() || request.options().isEmpty(),
          "it refuses the options that were written after its name: " + e.getMessage());
      throw e;
    }
    require(loaded.vocabulary() >= 1, "'vocabulary' is " + loaded.vocabulary());
    require(loaded.threads() >= 1, "'threads' is " + loaded.threads());
    require(
        loaded.context() >= request.context(),
        "'context' is " + loaded.context() + " though " + request.context() + " were asked for");
    require(!loaded.weights().isBlank(), "'weights' is blank");
    require(!loaded.kv().isBlank(), "'kv' is blank");
    settings = loaded;
    prompt = new int[PROMPT];
    Arrays.setAll(prompt, i -> (i * 7 + 1) % settings.vocabulary());
    return loaded.weights() + ", vocabulary " + loaded.vocabulary();
  }

  private String tokenize() throws WorkerException, Broken {
    int[] ids = worker.tokenize(TEXT, false).value();
    require(ids.length >= 1, "no ids for '" + TEXT + "'");
    for (int id : ids) {
      require(id >= 0 && id < settings.vocabulary(), "id " + id + " is outside the vocabulary");
    }
    require(Arrays.equals(ids, worker.tokenize(TEXT, false).value()), "other ids the second time");
    require(worker.tokenize("", false).value().length == 0, "ids for an empty text");
    Arrays.setAll(prompt, i -> ids[i % ids.length]);
    return ids.length + " ids";
  }

  private String logits() throws WorkerException, IOException, Broken {
    try (FloatRows rows = worker.logits(prompt).value()) {
      require(
          rows.width() == settings.vocabulary(),
          rows.width() + " logits a position, the vocabulary has " + settings.vocabulary());
      requireFinite(rows);
      return rows.rows() + " rows of " + rows.width();
    }
  }

  private static void requireFinite(FloatRows rows) throws Broken {
    for (long row = 0; row < rows.rows(); row++) {
      for (int column = 0; column < rows.width(); column++) {
        require(
            Float.isFinite(rows.at(row, column)),
            "row " + row + ", column " + column + " is " + rows.at(row, column));
      }
    }
  }

  private String prefill() throws WorkerException, IOException, Broken {
    Timed<PrefillReport> whole = worker.prefill(new PrefillRequest(prompt, 0));
    requireInside(whole.value().nanos(), whole.outsideNanos());
    try (FloatRows rows = worker.logits(prompt).value()) {
      requireLargest(rows, prompt.length - 1, whole.value().argmax());
    }
    return "token " + whole.value().argmax();
  }

  private String depth() throws WorkerException, IOException, Broken {
    for (int depth : new int[] {1, prompt.length / 2, prompt.length - 1}) {
      Timed<PrefillReport> part = worker.prefill(new PrefillRequest(prompt, depth));
      requireInside(part.value().nanos(), part.outsideNanos());
      try (FloatRows rows = worker.logits(prompt).value()) {
        requireLargest(rows, prompt.length - 1, part.value().argmax());
      }
    }
    return "at depths 1, " + prompt.length / 2 + " and " + (prompt.length - 1);
  }

  private static void requireInside(long nanos, long outside) throws Broken {
    require(
        nanos >= 0 && nanos <= outside,
        "the engine's time of " + nanos + " ns is not inside the call's " + outside + " ns");
  }

  private static void requireLargest(FloatRows rows, int position, int id) throws Broken {
    require(id >= 0 && id < rows.width(), "token " + id + " is outside the vocabulary");
    float[] row = rows.row(position);
    float largest = Float.NEGATIVE_INFINITY;
    float smallest = Float.POSITIVE_INFINITY;
    for (float value : row) {
      largest = Math.max(largest, value);
      smallest = Math.min(smallest, value);
    }
    require(
        largest - row[id] <= TOLERANCE * (largest - smallest),
        "token %d was chosen at position %d with logit %s, the largest is %s"
            .formatted(id, position, row[id], largest));
  }

  private Timed<DecodeReport> decode(boolean margins) throws WorkerException {
    return worker.decode(DecodeRequest.greedy(prompt, TOKENS, margins), TokenListener.NONE);
  }

  private String length() throws WorkerException, Broken {
    DecodeReport report = decode(false).value();
    require(report.ids().length == TOKENS, report.ids().length + " ids, not " + TOKENS);
    require(report.nanos().length == TOKENS, report.nanos().length + " times, not " + TOKENS);
    require(report.margins().length == 0, "margins though none were asked for");
    return Arrays.toString(report.ids());
  }

  private String times() throws WorkerException, Broken {
    Timed<DecodeReport> timed = decode(false);
    long previous = 0;
    for (long nanos : timed.value().nanos()) {
      require(nanos >= previous, "a time of " + nanos + " ns follows one of " + previous + " ns");
      previous = nanos;
    }
    requireInside(previous, timed.outsideNanos());
    return "%.3f of %.3f ms".formatted(previous / 1e6, timed.outsideNanos() / 1e6);
  }

  private String chain() throws WorkerException, IOException, Broken {
    int[] ids = decode(false).value().ids();
    int[] all = Arrays.copyOf(prompt, prompt.length + ids.length);
    System.arraycopy(ids, 0, all, prompt.length, ids.length);
    try (FloatRows rows = worker.logits(all).value()) {
      for (int i = 0; i < ids.length; i++) {
        requireLargest(rows, prompt.length - 1 + i, ids[i]);
      }
    }
    return ids.length + " tokens";
  }

  private String repeats() throws WorkerException, Broken {
    int[] first = decode(false).value().ids();
    int[] second = decode(false).value().ids();
    require(
        Arrays.equals(first, second),
        Arrays.toString(first) + " first, then " + Arrays.toString(second));
    return "the same ids twice";
  }

  private String margins() throws WorkerException, Broken {
    float[] margins = decode(true).value().margins();
    require(margins.length == TOKENS, margins.length + " margins, not " + TOKENS);
    for (float margin : margins) {
      require(margin >= 0, "a margin of " + margin);
    }
    return "the first is " + margins[0];
  }

  private String stream() throws WorkerException, Broken {
    List<Integer> told = new ArrayList<>();
    DecodeRequest request =
        new DecodeRequest(prompt, TOKENS, DecodeRequest.Sampling.GREEDY, false, true, List.of());
    int[] ids = worker.decode(request, told::add).value().ids();
    require(
        told.equals(Arrays.stream(ids).boxed().toList()),
        "told " + told + ", then replied " + Arrays.toString(ids));
    return told.size() + " events";
  }

  private String outside() throws WorkerException, Broken {
    for (int id : new int[] {settings.vocabulary(), -1, Integer.MAX_VALUE}) {
      requireRefused("id " + id, new PrefillRequest(new int[] {prompt[0], id}, 0));
    }
    return "refused";
  }

  private String noIds() throws WorkerException, Broken {
    requireRefused("a prompt of no ids", new PrefillRequest(new int[0], 0));
    return "refused";
  }

  private String tooLong() throws WorkerException, Broken {
    int[] ids = new int[settings.context() + 1];
    Arrays.fill(ids, prompt[0]);
    requireRefused(ids.length + " ids", new PrefillRequest(ids, 0));
    return "refused " + ids.length + " ids";
  }

  private String wholeDepth() throws WorkerException, Broken {
    requireRefused("depth " + prompt.length, new PrefillRequest(prompt, prompt.length));
    return "refused";
  }

  private void requireRefused(String what, PrefillRequest request) throws WorkerException, Broken {
    try {
      PrefillReport report = worker.prefill(request).value();
      throw new Broken(what + " gave token " + report.argmax() + ", expected error bad-request");
    } catch (WorkerException e) {
      if (e.kind() != WorkerException.Kind.REFUSED) {
        throw e;
      }
      EngineException.Kind kind = e.refusal().orElseThrow();
      require(
          kind == EngineException.Kind.BAD_REQUEST,
          what + " gave error " + kind.wire() + ", expected bad-request: " + e.getMessage());
    }
  }

  private String reset() throws WorkerException, Broken {
    int before = worker.prefill(new PrefillRequest(prompt, 0)).value().argmax();
    worker.reset();
    int after = worker.prefill(new PrefillRequest(prompt, 0)).value().argmax();
    require(before == after, "token " + before + " before, " + after + " after");
    return "the same token before and after";
  }

  private String forward() throws WorkerException, Broken {
    ForwardRequest request = new ForwardRequest(new int[][] {prompt, prompt});
    Timed<ForwardReport> first = worker.forward(request);
    requireInside(first.value().nanos(), first.outsideNanos());
    long second = worker.forward(request).value().checksum();
    require(
        first.value().checksum() == second,
        "checksum " + first.value().checksum() + " first, then " + second);
    return "checksum " + second;
  }

  private String layers() throws WorkerException, IOException, Broken {
    WorkerProcess.Layers layers = worker.layers(prompt).value();
    try (FloatRows rows = layers.rows()) {
      require(!layers.names().isEmpty(), "no layers");
      requireFinite(rows);
    }
    return layers.names().size() + " blocks";
  }

  private String secondLoad() throws WorkerException, Broken {
    int before = worker.prefill(new PrefillRequest(prompt, 0)).value().argmax();
    boolean replaced = true;
    try {
      worker.load(request);
    } catch (WorkerException e) {
      if (e.kind() != WorkerException.Kind.REFUSED) {
        throw e;
      }
      replaced = false;
    }
    int after = worker.prefill(new PrefillRequest(prompt, 0)).value().argmax();
    require(before == after, "token " + before + " before, " + after + " after");
    return replaced ? "loaded again" : "refused, and the first model still answers";
  }
}
