package io.steelyard.engines;

import io.steelyard.lab.worker.DecodeReport;
import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.TokenListener;
import io.steelyard.models.sampling.Penalties;
import io.steelyard.models.sampling.Sampler;
import io.steelyard.models.sampling.Sampling;
import io.steelyard.models.speculation.Speculation;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Optional;

/** Generates tokens; the same code, and the same clock, for every engine in Java. */
public final class TokenLoop {
  /** A pass over one token. */
  @FunctionalInterface
  public interface Step {
    /**
     * Appends a token to the cache.
     *
     * @return the logits that follow it, float32, valid until the next call
     */
    MemorySegment logits(int id) throws EngineException;
  }

  /** A pass over one token and a draft of what follows it. */
  @FunctionalInterface
  public interface Pass {
    /**
     * Appends a token to the cache, and with it the drafted ones that come true.
     *
     * @param most how many tokens may be chosen, at least 1
     * @param verifier to be asked once for each token that follows, in order, until it says no
     */
    void run(int id, int most, Speculation.Verifier<EngineException> verifier)
        throws EngineException;
  }

  private final DecodeRequest request;
  private final TokenListener listener;
  private final Sampler sampler;
  private final int[] stop;
  private final int[] ids;
  private final long[] nanos;
  private final float[] margins;
  private int chosen;
  private boolean ended;

  /**
   * Prepares a generation.
   *
   * @param listener told of each token if the request asks for that
   * @throws EngineException if the request's sampling makes no sense
   */
  public TokenLoop(DecodeRequest request, TokenListener listener) throws EngineException {
    this.request = request;
    this.listener = listener;
    try {
      sampler = new Sampler(sampling(request.sampling()));
    } catch (IllegalArgumentException e) {
      throw new EngineException(Kind.BAD_REQUEST, e.getMessage(), e);
    }
    sampler.begin(request.ids());
    stop = request.stop().stream().mapToInt(Integer::intValue).toArray();
    ids = new int[request.tokens()];
    nanos = new long[request.tokens()];
    margins = new float[request.margins() ? request.tokens() : 0];
  }

  private static Sampling sampling(DecodeRequest.Sampling asked) {
    DecodeRequest.Penalties penalties = asked.penalties();
    return new Sampling(
        asked.temperature(),
        asked.topK(),
        asked.typical(),
        asked.topP(),
        asked.minP(),
        new Penalties(
            penalties.repeat(), penalties.last(), penalties.frequency(), penalties.presence()),
        asked.seed());
  }

  /**
   * Generates token by token, with the prompt's last token as the first input.
   *
   * @param step of a cache that holds the prompt but for its last token
   */
  public DecodeReport run(Step step) throws EngineException {
    return speculate((id, most, verifier) -> verifier.accepts(step.logits(id), Speculation.NONE));
  }

  /**
   * Generates as many tokens a pass as it gives. Those of one pass arrive together, so they have
   * the same time: that of the last one's choice.
   *
   * @param pass over a cache that holds the prompt but for its last token
   */
  public DecodeReport speculate(Pass pass) throws EngineException {
    Speculation.Verifier<EngineException> verifier = this::choose;
    int input = request.ids()[request.ids().length - 1];
    int arrived = 0;
    ended = ids.length == 0;
    int passes = 0;
    long start = System.nanoTime();
    while (!ended) {
      passes++;
      pass.run(input, ids.length - arrived, verifier);
      long now = System.nanoTime() - start;
      for (; arrived < chosen; arrived++) {
        input = ids[arrived];
        nanos[arrived] = now;
        if (request.stream()) {
          listener.token(input);
        }
      }
    }
    return new DecodeReport(
        Arrays.copyOf(ids, chosen),
        Arrays.copyOf(nanos, chosen),
        Arrays.copyOf(margins, request.margins() ? chosen : 0),
        Optional.of(passes));
  }

  private boolean choose(MemorySegment logits, int draft) throws EngineException {
    int id = finite(sampler.next(logits), logits);
    ids[chosen] = id;
    if (request.margins()) {
      margins[chosen] = Sampler.margin(logits);
    }
    chosen++;
    ended = chosen == ids.length || stops(id);
    return id == draft && !ended;
  }

  private boolean stops(int id) {
    for (int end : stop) {
      if (end == id) {
        return true;
      }
    }
    return false;
  }

  /** The most likely token, unless the logits give nothing to choose by. */
  public static int best(MemorySegment logits) throws EngineException {
    return finite(Sampler.argmax(logits), logits);
  }

  private static int finite(int id, MemorySegment logits) throws EngineException {
    if (!Float.isFinite(logits.getAtIndex(ValueLayout.JAVA_FLOAT, id))) {
      throw new EngineException(
          Kind.FAILED, "the logits computed are no numbers; the model file may be damaged");
    }
    return id;
  }
}
