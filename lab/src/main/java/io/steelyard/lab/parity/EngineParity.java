package io.steelyard.lab.parity;

import io.steelyard.lab.worker.EngineInfo;
import io.steelyard.lab.worker.LoadReport;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What one label did in its parity run: who it is, what it loaded, how far its logits are from the
 * oracle's, and what each timed call must give. Kept in a cache, since it depends on the model, the
 * engine's build and its settings alone.
 *
 * @param label the engine's label
 * @param modelSha256 checksum of the model file it loaded
 * @param info who it is
 * @param settings what it loaded
 * @param libraries native libraries in use
 * @param tokenChecksum checksum over its token ids of the fixed texts
 * @param tokenMismatch the first text whose ids are not the oracle's; empty where all are
 * @param logits distance from the oracle; null where the tokens already differ
 * @param exact the same with a float32 KV cache, of an engine that multiplies in float32: nothing
 *     is rounded there, so faults show that a rounded cache would hide; null of any other engine
 * @param generated its greedy ids after the first parity text
 * @param outputs by workload name: for each prompt, what the timed call must give
 * @param estimates by workload name: nanoseconds of its last call, for the plan
 * @param startNanos process start until ready for the first call
 */
public record EngineParity(
    String label,
    String modelSha256,
    EngineInfo info,
    LoadReport.Settings settings,
    List<EngineInfo.NativeLibrary> libraries,
    String tokenChecksum,
    String tokenMismatch,
    LogitsComparison logits,
    LogitsComparison exact,
    int[] generated,
    Map<String, List<Output>> outputs,
    Map<String, Long> estimates,
    long startNanos) {

  /**
   * The output of a timed call.
   *
   * @param ids generated ids; the most likely next token of a prefill; empty for a forward pass
   * @param margins gap between the two largest logits behind each id; empty where not known
   * @param checksum of a forward pass; 0 otherwise
   * @param passes forward passes of a decoding, where the engine tells
   */
  public record Output(int[] ids, float[] margins, long checksum, Optional<Integer> passes) {
    /** Of a call that isn't a decoding. */
    public Output(int[] ids, float[] margins, long checksum) {
      this(ids, margins, checksum, Optional.empty());
    }
  }

  /** The same with what a float32 KV cache gave. */
  EngineParity with(LogitsComparison exactLogits) {
    return new EngineParity(
        label,
        modelSha256,
        info,
        settings,
        libraries,
        tokenChecksum,
        tokenMismatch,
        logits,
        exactLogits,
        generated,
        outputs,
        estimates,
        startNanos);
  }

  /** The same under another label: results are cached by what was run, not by its name. */
  EngineParity as(String newLabel) {
    return new EngineParity(
        newLabel,
        modelSha256,
        info,
        settings,
        libraries,
        tokenChecksum,
        tokenMismatch,
        logits,
        exact,
        generated,
        outputs,
        estimates,
        startNanos);
  }
}
