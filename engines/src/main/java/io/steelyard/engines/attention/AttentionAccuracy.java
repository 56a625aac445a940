package io.steelyard.engines.attention;

import io.steelyard.kernels.Tier;
import io.steelyard.kernels.attention.AttentionInputs;
import io.steelyard.kernels.attention.Counts;
import io.steelyard.kernels.attention.KeptMass;
import io.steelyard.kernels.attention.Plan;
import io.steelyard.kernels.attention.Variant;
import io.steelyard.kernels.attention.Variants;
import io.steelyard.lab.RunListener;
import io.steelyard.lab.parity.LogitsComparison;
import io.steelyard.lab.parity.TextWindows;
import io.steelyard.lab.record.Perplexity;
import io.steelyard.models.ModelException;
import io.steelyard.models.Session;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.IntPredicate;

/**
 * What variants of attention lose in a model: it runs windows of a text with each of them and as
 * ever, and the logits are compared token by token. Scored are the tokens that have at least half a
 * window before them, as {@link TextWindows} says.
 */
public final class AttentionAccuracy implements AutoCloseable {
  /** Dense attention's logits of one window, which are kept. */
  private static final long MOST_BYTES = 8L << 30;

  private final VariantModel model;
  private final TextWindows windows;

  /**
   * A variant in some layers.
   *
   * @param spelling of {@link Variants}
   * @param layer the only layer that has it; empty where all have
   */
  public record Case(String spelling, OptionalInt layer) {}

  /** What one head saw, mean over windows. */
  public record Head(int layer, int head, double density, double mass) {}

  /**
   * What a variant lost.
   *
   * @param density share of the keys that were seen, of the layers that have the variant
   * @param executed scores computed, those of choosing what is seen too, as a share of dense
   *     attention's
   * @param mass share of dense attention's weights that fell on seen keys
   * @param perplexity of the model with it
   * @param ratio by the perplexity without it
   * @param ratioError its standard error
   * @param kldMean mean KL of the model without it to the one with it, in nats
   * @param kldP99 its 99th percentile
   * @param top1 share of tokens with the same most likely one
   * @param heads in order of layers and heads
   */
  public record Result(
      String variant,
      OptionalInt layer,
      double density,
      double executed,
      double mass,
      double perplexity,
      double ratio,
      double ratioError,
      double kldMean,
      double kldP99,
      double top1,
      List<Head> heads) {}

  private AttentionAccuracy(VariantModel model, TextWindows windows) {
    this.model = model;
    this.windows = windows;
  }

  /**
   * Loads a model and cuts a text into windows.
   *
   * @param tokens of a window
   * @param most windows, spread over the text
   * @throws ModelException if the model can't be run
   * @throws IllegalArgumentException if the text holds no window
   */
  public static AttentionAccuracy load(
      Path file, Tier tier, int threads, String text, int tokens, int most) {
    VariantModel model = VariantModel.load(file, tier, threads, tokens);
    try {
      return new AttentionAccuracy(model, Windows.cut(model, text, tokens, most));
    } catch (RuntimeException | Error e) {
      model.close();
      throw e;
    }
  }

  public int layers() {
    return model.model().config().layers();
  }

  /** How many windows of the text are run. */
  public int windows() {
    return windows.windows().size();
  }

  /** Tokens that are scored, of all windows. */
  public long scored() {
    return (long) windows() * scoredOfWindow();
  }

  private int scoredOfWindow() {
    return windows.length() - 1 - windows.length() / 2;
  }

  /**
   * Runs the text as ever and with each case.
   *
   * @throws IllegalArgumentException if a variant can't take the model's attention
   */
  public List<Result> run(List<Case> cases, RunListener listener) {
    List<Tally> tallies =
        cases.stream()
            .map(of -> new Tally(of, LogitsComparison.over(model.session().vocabulary())))
            .toList();
    long rowBytes = (long) model.session().vocabulary() * Float.BYTES;
    if (scoredOfWindow() * rowBytes > MOST_BYTES) {
      throw new IllegalArgumentException(
          "the logits of a window take %d GiB, of at most %d: take fewer tokens"
              .formatted(scoredOfWindow() * rowBytes >> 30, MOST_BYTES >> 30));
    }
    int passes = windows() * (1 + cases.size());
    int done = 0;
    try (Arena arena = Arena.ofShared()) {
      MemorySegment usual = arena.allocate(scoredOfWindow() * rowBytes, Float.BYTES);
      long start = System.nanoTime();
      for (int[] window : windows.windows()) {
        model.kernels().usual();
        int first = window.length / 2;
        pass(
            window,
            (position, row) ->
                usual.asSlice((position - first) * rowBytes, rowBytes).copyFrom(row));
        progress(listener, ++done, passes, start, "dense");
        for (Tally tally : tallies) {
          model.kernels().use(tally.variant, tally.where(), tally::attended);
          pass(
              window,
              (position, row) ->
                  tally.logits.add(
                      usual.asSlice((position - first) * rowBytes, rowBytes),
                      row,
                      Arrays.copyOfRange(window, position, position + 2)));
          progress(listener, ++done, passes, start, tally.of.spelling());
        }
      }
    }
    return tallies.stream().map(Tally::result).toList();
  }

  private void pass(int[] window, Session.PositionSink sink) {
    model.session().truncate(0);
    model
        .session()
        .forward(
            window,
            0,
            window.length,
            place -> place >= window.length / 2 && place < window.length - 1,
            sink);
  }

  private static void progress(
      RunListener listener, int done, int passes, long start, String what) {
    double seconds = (System.nanoTime() - start) / 1e9;
    listener.progress(
        "accuracy",
        (double) done / passes,
        "%s, pass %d of %d, about %.0f s left"
            .formatted(what, done, passes, seconds / done * (passes - done)));
  }

  /** Sums of one case. */
  private static final class Tally {
    private final Case of;
    private final Variant variant;
    private final LogitsComparison.Tally logits;
    private final List<Head> heads = new ArrayList<>();
    private double executed;
    private double dense;

    Tally(Case of, LogitsComparison.Tally logits) {
      this.of = of;
      this.logits = logits;
      variant = Variants.of(of.spelling());
    }

    IntPredicate where() {
      return layer -> of.layer().isEmpty() || of.layer().getAsInt() == layer;
    }

    void attended(int layer, AttentionInputs inputs, Plan plan, Counts counts) {
      executed += counts.scores();
      dense += inputs.shape().scores();
      List<KeptMass> kept = KeptMass.of(inputs, plan);
      for (int head = 0; head < kept.size(); head++) {
        heads.add(new Head(layer, head, kept.get(head).density(), kept.get(head).mass()));
      }
    }

    Result result() {
      LogitsComparison comparison = logits.comparison();
      Perplexity ratio = comparison.perplexity().orElseThrow();
      return new Result(
          of.spelling(),
          of.layer(),
          heads.stream().mapToDouble(Head::density).average().orElseThrow(),
          executed / dense,
          heads.stream().mapToDouble(Head::mass).average().orElseThrow(),
          logits.score().perplexity(),
          ratio.ratio(),
          ratio.error(),
          comparison.kldMean(),
          comparison.kldP99(),
          comparison.top1(),
          means());
    }

    /** Each window told of the same heads. */
    private List<Head> means() {
      Map<List<Integer>, List<Head>> byHead = new LinkedHashMap<>();
      for (Head head : heads) {
        byHead
            .computeIfAbsent(List.of(head.layer(), head.head()), _ -> new ArrayList<>())
            .add(head);
      }
      return byHead.values().stream()
          .map(
              of ->
                  new Head(
                      of.getFirst().layer(),
                      of.getFirst().head(),
                      of.stream().mapToDouble(Head::density).average().orElseThrow(),
                      of.stream().mapToDouble(Head::mass).average().orElseThrow()))
          .toList();
    }
  }

  @Override
  public void close() {
    model.close();
  }
}
