package io.steelyard.app;

import io.steelyard.engines.steelyard.SteelyardProvider;
import io.steelyard.lab.TemporaryFolder;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.PrefillRequest;
import io.steelyard.lab.worker.Timeouts;
import io.steelyard.lab.worker.TokenListener;
import io.steelyard.lab.worker.WorkerProcess;
import io.steelyard.lab.worker.Workers;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.models.synth.PrecisionMix;
import io.steelyard.models.synth.Shape;
import io.steelyard.models.synth.Synth;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Lets a worker do once, on a tiny model, what workers do, so that the JVM writes down what it
 * loaded and can start faster from then on. The launcher runs it after a build and names in the
 * property {@code steelyard.aot} the flag that says where the cache goes.
 *
 * <p>Source: JEP 514, ahead-of-time command-line ergonomics.
 */
final class AotTraining {
  private static final Shape TINY =
      new Shape(
          "tiny", "nothing", "llama", 2, 256, 4, 2, 512, 1024, 512, 10_000f, 1e-5f, true, false);

  /** The JVM writes its cache when it ends, which takes seconds. */
  private static final Timeouts PATIENT =
      new Timeouts(
          Duration.ofMinutes(1),
          Duration.ofMinutes(1),
          Duration.ofMinutes(1),
          Duration.ofMinutes(2));

  private AotTraining() {}

  public static void main(String[] arguments) throws Exception {
    try (TemporaryFolder folder = TemporaryFolder.make()) {
      Path file = folder.path().resolve("tiny.gguf");
      Synth.write(TINY, PrecisionMix.Q4_0, 1, file, ProgressListener.NONE);
      ResolvedModel model = new ResolvedModel("tiny", file, "", "made", true);
      Workers workers =
          AdHocWorker.workers(model, new Study.Settings(2, 256, "f16", true, ""), folder.path());
      WorkerProcess worker = workers.start("training", SteelyardProvider.NAME, Map.of(), PATIENT);
      try {
        workers.load(worker, Map.of());
        int[] ids = worker.tokenize("The quick brown fox", true).value();
        int[] prompt = IntStream.range(0, 100).map(i -> ids[i % ids.length]).toArray();
        worker.prefill(new PrefillRequest(prompt, 0));
        worker.decode(DecodeRequest.greedy(ids, 4, false), TokenListener.NONE);
        worker.memory();
      } finally {
        worker.close();
      }
    }
  }
}
