package io.steelyard.app;

import io.steelyard.engines.InstallException;
import io.steelyard.history.HistoryException;
import io.steelyard.history.HistoryStore;
import io.steelyard.history.TrendQuery;
import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.models.catalogue.ModelListing;
import io.steelyard.models.catalogue.ResolvedModel;
import java.util.List;

/**
 * What a suite finds on a machine.
 *
 * @param model the name of the suite's model
 * @param llamaCpp why llama.cpp can't be used; empty where it can
 * @param ownEngines the user's own engines
 * @param problems files of engines that can't be used, a sentence each
 * @param context tokens that the suite's model was made for
 * @param storedRuns earlier runs of it on the same hardware that the present build can be held
 *     against
 * @param models all models that have a name
 */
record SuiteMachine(
    String model,
    String llamaCpp,
    List<String> ownEngines,
    List<String> problems,
    long context,
    int storedRuns,
    List<ModelListing> models) {

  SuiteMachine {
    ownEngines = List.copyOf(ownEngines);
    problems = List.copyOf(problems);
    models = List.copyOf(models);
  }

  /** This machine, with llama.cpp installed where that can be done. */
  static SuiteMachine present(ResolvedModel model, Console console) throws InterruptedException {
    EngineRegistry registry = EngineRegistry.system();
    return new SuiteMachine(
        model.name(),
        llamaCpp(console),
        registry.entries().stream()
            .filter(entry -> !entry.isBuiltIn())
            .map(EngineRegistry.Entry::name)
            .toList(),
        registry.problems(),
        Models.trainedContext(model),
        storedRuns(model.name()),
        Models.resolver().list());
  }

  /** The engines of all comparisons. */
  List<String> engines() {
    return llamaCpp.isEmpty()
        ? List.of(SuitePlan.STEELYARD, Engines.LLAMACPP)
        : List.of(SuitePlan.STEELYARD);
  }

  private static String llamaCpp(Console console) throws InterruptedException {
    try {
      var _ = Engines.installLlamaCpp(console);
      return "";
    } catch (InstallException e) {
      return e.getMessage();
    }
  }

  private static int storedRuns(String model) {
    try (HistoryStore history = HistoryStore.open(HistoryPlace.usual(System.getenv()))) {
      return history
          .trend(
              TrendQuery.of(SuitePlan.STORED_METRIC)
                  .label(SuitePlan.STEELYARD)
                  .model(model)
                  .hardware(Environment.fingerprint()))
          .points()
          .size();
    } catch (HistoryException e) {
      return 0; // none of this hardware; a history that can't be opened is told of by each run
    }
  }
}
