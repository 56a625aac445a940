package io.steelyard.lab.parity;

import io.steelyard.lab.benchmark.BenchmarkProtocol;
import io.steelyard.lab.parity.EngineParity.Output;
import io.steelyard.lab.study.Workload;
import io.steelyard.lab.text.Prompts;
import io.steelyard.lab.worker.DecodeReport;
import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.ForwardReport;
import io.steelyard.lab.worker.ForwardRequest;
import io.steelyard.lab.worker.KernelReport;
import io.steelyard.lab.worker.KernelRequest;
import io.steelyard.lab.worker.PrefillReport;
import io.steelyard.lab.worker.PrefillRequest;
import io.steelyard.lab.worker.Timed;
import io.steelyard.lab.worker.TokenListener;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

/**
 * The one call of a workload: what parity checks, what warms up and what is timed are the same by
 * construction.
 *
 * @param nanos by the engine's own clock
 * @param outsideNanos by the coordinator's clock
 * @param output what it gave
 * @param counts what it did by its own count; empty where it doesn't count
 */
public record TimedCall(
    long nanos, long outsideNanos, Output output, Optional<Map<String, Long>> counts) {
  public TimedCall {
    nanos =
        Math.max(1, nanos); // 0 says that the clock is coarser than the call, not that it took none
  }

  /** A call that counts nothing. */
  TimedCall(long nanos, long outsideNanos, Output output) {
    this(nanos, outsideNanos, output, Optional.empty());
  }

  private static final int[] NO_IDS = {};
  private static final float[] NO_MARGINS = {};

  /** The name of the protocol call that a workload times. */
  public static String name(Workload workload) {
    return switch (workload.kind()) {
      case START, PREFILL -> "prefill";
      case DECODE -> "decode";
      case FORWARD -> "forward";
      case OPERATION -> "kernel";
      case COMMAND -> throw noCall();
    };
  }

  /**
   * Makes the call.
   *
   * @param proving whether to ask for what shows that the output is right: margins, or a comparison
   *     with the baseline's result; timed calls don't
   */
  public static TimedCall of(
      WorkerProcess worker, Workload workload, Prompts prompts, int prompt, boolean proving)
      throws WorkerException {
    return switch (workload.kind()) {
      case START, PREFILL -> {
        int depth = workload.kind() == Workload.Kind.START ? 0 : workload.depth();
        Timed<PrefillReport> timed =
            worker.prefill(new PrefillRequest(prompts.ids(workload, prompt), depth));
        yield new TimedCall(
            timed.value().nanos(),
            timed.outsideNanos(),
            new Output(new int[] {timed.value().argmax()}, NO_MARGINS, 0));
      }
      case DECODE -> {
        Timed<DecodeReport> timed =
            worker.decode(
                DecodeRequest.greedy(prompts.ids(workload, prompt), workload.generate(), proving),
                TokenListener.NONE);
        long[] nanos = timed.value().nanos();
        yield new TimedCall(
            nanos.length == 0 ? 0 : nanos[nanos.length - 1],
            timed.outsideNanos(),
            new Output(timed.value().ids(), timed.value().margins(), 0, timed.value().passes()));
      }
      case FORWARD -> {
        Timed<ForwardReport> timed =
            worker.forward(new ForwardRequest(prompts.batch(workload, prompt)));
        yield new TimedCall(
            timed.value().nanos(),
            timed.outsideNanos(),
            new Output(NO_IDS, NO_MARGINS, timed.value().checksum()));
      }
      case OPERATION -> {
        Map<String, Long> shape = proving ? Map.of(BenchmarkProtocol.PROVE, 1L) : Map.of();
        Timed<KernelReport> timed = worker.kernel(new KernelRequest(workload.title(), shape, 0));
        yield new TimedCall(
            timed.value().nanos(),
            timed.outsideNanos(),
            new Output(NO_IDS, NO_MARGINS, timed.value().error() == 0 ? 0 : 1),
            timed.value().counts());
      }
      case COMMAND -> throw noCall();
    };
  }

  private static IllegalArgumentException noCall() {
    return new IllegalArgumentException("a command is run, not called");
  }

  /** Whether a timed call gave what the parity run gave, in the length that was asked for. */
  public boolean matches(Output expected) {
    return Arrays.equals(output.ids(), expected.ids()) && output.checksum() == expected.checksum();
  }
}
