package io.steelyard.lab.worker;

import java.io.IOException;

/**
 * An inference engine that lives in a JVM worker. One instance serves one worker process; calls
 * arrive one at a time, on one thread, in the order of the protocol: {@link #hello}, {@link #load},
 * then any of the others, then {@link #close}.
 *
 * <p>Times are nanoseconds of the engine's own monotonic clock, taken around the work alone: no
 * parsing, no tokenisation, no copying of results. Every call that can't be served throws an {@link
 * EngineException} whose message a user can act on.
 */
public interface Engine extends AutoCloseable {

  /** Says who this is. Must not load a model, and should take no noticeable time. */
  EngineInfo hello() throws EngineException;

  /** Loads a model and makes it ready for the first token. */
  LoadReport load(LoadRequest request) throws EngineException;

  /**
   * Turns text into token ids with the loaded model's own tokenizer, without adding any token at
   * the start or the end.
   *
   * @param parseSpecial whether control tokens written in the text become their ids
   */
  int[] tokenize(String text, boolean parseSpecial) throws EngineException;

  /**
   * A teacher-forced forward pass from an empty cache.
   *
   * @param out receives the logits of each position in order
   */
  void logits(int[] ids, RowSink out) throws EngineException, IOException;

  /** Processes a prompt at a depth and times the part after the depth. */
  PrefillReport prefill(PrefillRequest request) throws EngineException;

  /**
   * Generates tokens one by one after a prompt.
   *
   * @param listener told of each token as it is generated; does nothing in timed calls
   */
  DecodeReport decode(DecodeRequest request, TokenListener listener) throws EngineException;

  /** A batched forward pass with the logits of all positions. */
  default ForwardReport forward(ForwardRequest request) throws EngineException {
    throw EngineException.unsupported("forward");
  }

  /**
   * A teacher-forced forward pass that also yields what each layer puts out: first the embedding,
   * then every layer's output, each row one position.
   */
  default LayersReport layers(int[] ids, RowSink out) throws EngineException, IOException {
    throw EngineException.unsupported("layers");
  }

  /** One named operator, timed. */
  default KernelReport kernel(KernelRequest request) throws EngineException {
    throw EngineException.unsupported("kernel");
  }

  /** The engine's own account of its memory. */
  default MemoryReport memory() throws EngineException {
    return MemoryReport.unknown();
  }

  /** Forgets every cached token. */
  void reset() throws EngineException;

  @Override
  void close();
}
