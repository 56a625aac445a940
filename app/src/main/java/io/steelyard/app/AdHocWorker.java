package io.steelyard.app;

import io.steelyard.lab.TemporaryFolder;
import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import io.steelyard.lab.worker.Workers;
import io.steelyard.models.ModelFile;
import io.steelyard.models.catalogue.ResolvedModel;
import java.io.IOException;
import java.nio.file.Path;

/** An engine with a model loaded, outside of any run: for one answer, not for a measurement. */
final class AdHocWorker implements AutoCloseable {
  private final TemporaryFolder folder;
  private final WorkerProcess worker;
  private final LoadReport loaded;

  private AdHocWorker(TemporaryFolder folder, WorkerProcess worker, LoadReport loaded) {
    this.folder = folder;
    this.worker = worker;
    this.loaded = loaded;
  }

  /**
   * Starts an engine and loads a model.
   *
   * @param threads compute threads, at least 1
   */
  static AdHocWorker start(
      EngineSpec engine, ResolvedModel model, int threads, int context, String kv)
      throws IOException, WorkerException {
    TemporaryFolder folder = TemporaryFolder.make();
    Workers workers =
        workers(
            model,
            new Study.Settings(threads, context, kv, true, Environment.affinity()),
            folder.path());
    WorkerProcess worker = null;
    try {
      worker = workers.start("worker", engine.name(), engine.options());
      return new AdHocWorker(folder, worker, workers.load(worker, engine.options()));
    } catch (WorkerException | RuntimeException e) {
      if (worker != null) {
        worker.close();
      }
      folder.close();
      throw e;
    }
  }

  /** What starts workers outside of a run, and tells them what their options say. */
  static Workers workers(ResolvedModel model, Study.Settings settings, Path folder)
      throws IOException {
    return new Workers(
        new Study.Model(
            model.name(),
            model.file().toString(),
            model.sha256(),
            model.random(),
            ModelFile.bytes(model.file())),
        settings,
        EngineRegistry.system(),
        name -> folder.resolve("stderr.log"),
        folder);
  }

  WorkerProcess worker() {
    return worker;
  }

  LoadReport loaded() {
    return loaded;
  }

  @Override
  public void close() {
    worker.close();
    folder.close();
  }
}
