package io.steelyard.engines;

import io.steelyard.lab.worker.DecodeReport;
import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.TokenListener;
import io.steelyard.models.sampling.Sampler;
import io.steelyard.models.sampling.Sampling;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Generates tokens one by one; the same code, and the same clock, for every engine in Java. */
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

  private final DecodeRequest request;
  private final TokenListener listener;
  private final Sampler sampler;

  /**
   * Prepares a generation.
   *
   * @param listener told of each token if the request asks for that
   * @throws EngineException if the request's sampling makes no sense
   */
  public TokenLoop(DecodeRequest request, TokenListener listener) throws EngineException {
    this.request = request;
    this.listener = listener;
    DecodeRequest.Sampling asked = request.sampling();
    try {
      sampler =
          new Sampler(
              new Sampling(
                  asked.temperature(), asked.topK(), asked.topP(), asked.minP(), asked.seed()));
    } catch (IllegalArgumentException e) {
      throw new EngineException(Kind.BAD_REQUEST, e.getMessage(), e);
    }
  }

  /**
   * Generates, with the prompt's last token as the first input.
   *
   * @param step of a cache that holds the prompt but for its last token
   */
  public DecodeReport run(Step step) throws EngineException {
    int[] ids = new int[request.tokens()];
    long[] nanos = new long[request.tokens()];
    float[] margins = new float[request.margins() ? request.tokens() : 0];
    int input = request.ids()[request.ids().length - 1];
    int count = 0;
    long start = System.nanoTime();
    while (count < ids.length) {
      MemorySegment logits = step.logits(input);
      input = finite(sampler.next(logits), logits);
      nanos[count] = System.nanoTime() - start;
      ids[count] = input;
      if (request.margins()) {
        margins[count] = Sampler.margin(logits);
      }
      count++;
      if (request.stream()) {
        listener.token(input);
      }
      if (request.stop().contains(input)) {
        break;
      }
    }
    return new DecodeReport(
        Arrays.copyOf(ids, count),
        Arrays.copyOf(nanos, count),
        Arrays.copyOf(margins, request.margins() ? count : 0));
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
