package io.steelyard.lab;

import io.steelyard.lab.parity.EngineParity;
import io.steelyard.lab.parity.EngineParity.Output;
import io.steelyard.lab.parity.LogitsComparison;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.study.Limits;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.EngineInfo;
import io.steelyard.lab.worker.LoadReport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Records with every field filled in, for tests that look at one of them. */
public final class TestData {
  public static final LoadReport.Settings F32_SETTINGS = settings("F32 100%", "f32", 2);

  private TestData() {}

  public static LoadReport.Settings settings(String weights, String kv, int threads) {
    return new LoadReport.Settings(
        weights, kv, "as the weights", threads, "0-1", 512, 1024, true, 3, 30, 135_000_000);
  }

  /** A study of these labels, all of engine {@code engine}, the first one the baseline. */
  public static Study study(List<String> metrics, String... labels) {
    Map<String, Study.Engine> engines = new LinkedHashMap<>();
    for (String label : labels) {
      engines.put(label, new Study.Engine(label, "engine", Map.of()));
    }
    return Study.builder("steelyard compare")
        .model(new Study.Model("model", "/models/model.gguf", "abc", false, 1_000))
        .engines(engines)
        .baseline(labels[0])
        .metrics(metrics)
        .shape(new Study.Shape(512, 64, 0, 4))
        .settings(new Study.Settings(2, 1024, "f16", true, "0-1"))
        .design(new Study.Design(5, 3, 20, 10, 180, 0.02, 42))
        .build();
  }

  public static Study with(Study study, Map<String, Map<String, String>> options) {
    Map<String, Study.Engine> engines = new LinkedHashMap<>();
    study
        .engines()
        .forEach(
            (label, engine) ->
                engines.put(
                    label,
                    new Study.Engine(
                        engine.spec(), engine.name(), options.getOrDefault(label, Map.of()))));
    return study.toBuilder().engines(engines).build();
  }

  /**
   * Limits of round numbers with 2 threads: 1,000 bytes a second; a token's matrices have 100 bytes
   * and 130 operations, a position of the cache has 5 values.
   */
  public static Limits limits(double productsPerSecond) {
    return new Limits(2, 1_000, "int8", productsPerSecond, 80, 20, 100, 30, 5, 2);
  }

  public static Entry.BlockStart blockStart(int block, int attempt) {
    return blockStart(block, attempt, 1_000, 2_000);
  }

  public static Entry.BlockStart blockStart(int block, int attempt, long compute, long bandwidth) {
    return new Entry.BlockStart(
        block, attempt, "2026-01-01T00:00:00Z", List.of("a/pp512"), compute, bandwidth);
  }

  public static Entry.BlockEnd blockEnd(int block, int attempt, String disturbed) {
    return blockEnd(block, attempt, disturbed, 0);
  }

  public static Entry.BlockEnd blockEnd(
      int block, int attempt, String disturbed, double spentShare) {
    return new Entry.BlockEnd(block, attempt, "2026-01-01T00:01:00Z", 0, disturbed, spentShare);
  }

  /** A process that took 100 ms to be ready and 300 ms (250 by its own clock) to load. */
  public static Entry.ForkStart forkStart(
      int block, int attempt, String cell, int fork, boolean hosted) {
    return new Entry.ForkStart(
        block,
        attempt,
        cell,
        fork,
        4711,
        hosted,
        "b1",
        100_000_000,
        250_000_000,
        300_000_000,
        Map.of("load", 250_000_000L),
        40_000_000,
        F32_SETTINGS);
  }

  public static Entry.Call call(
      int block,
      int attempt,
      String cell,
      int fork,
      Role role,
      int index,
      long tokens,
      long nanos,
      boolean verified) {
    return new Entry.Call(
        block,
        attempt,
        cell,
        fork,
        "prefill",
        role,
        index,
        index,
        tokens,
        nanos,
        nanos + 1_000_000,
        nanos + 900_000_000,
        verified,
        0,
        0,
        0,
        0,
        0,
        Optional.empty());
  }

  /** The same call with this share of processor time taken by the hypervisor. */
  public static Entry.Call stolen(Entry.Call call, double share) {
    return new Entry.Call(
        call.block(),
        call.attempt(),
        call.cell(),
        call.fork(),
        call.call(),
        call.role(),
        call.index(),
        call.prompt(),
        call.tokens(),
        call.nanos(),
        call.outsideNanos(),
        call.sinceStartNanos(),
        call.verified(),
        call.compileNanos(),
        share,
        call.pageFaults(),
        call.contextSwitches(),
        call.megahertz(),
        call.counts());
  }

  /** A process whose peak was 240 MB. */
  public static Entry.ForkEnd forkEnd(
      int block, int attempt, String cell, int fork, String failure) {
    return new Entry.ForkEnd(
        block,
        attempt,
        cell,
        fork,
        true,
        240_000_000,
        200_000_000,
        190_000_000,
        180_000_000,
        Map.of("weights", 98_000_000L),
        failure);
  }

  /** A process with one warm-up call that was ten times as slow, and trials of these times. */
  public static ForkRecord fork(boolean hosted, long tokens, long... trialNanos) {
    List<Entry.Call> calls = new ArrayList<>();
    calls.add(call(1, 1, "a/x", 1, Role.WARM_UP, 0, tokens, 10 * trialNanos[0], true));
    for (int i = 0; i < trialNanos.length; i++) {
      calls.add(call(1, 1, "a/x", 1, Role.TRIAL, i, tokens, trialNanos[i], true));
    }
    return new ForkRecord(forkStart(1, 1, "a/x", 1, hosted), calls, forkEnd(1, 1, "a/x", 1, ""));
  }

  /** A process whose first token came after this time in the call. */
  public static ForkRecord startFork(boolean hosted, long firstNanos) {
    return new ForkRecord(
        forkStart(1, 1, "a/start", 1, hosted),
        List.of(call(1, 1, "a/start", 1, Role.FIRST, 0, 32, firstNanos, true)),
        forkEnd(1, 1, "a/start", 1, ""));
  }

  /** What a label did that computes just what the oracle does. */
  public static EngineParity parity(String label) {
    return parity(label, F32_SETTINGS);
  }

  public static EngineParity parity(String label, LoadReport.Settings settings) {
    return new EngineParity(
        label,
        "abc",
        new EngineInfo("engine", "1", "avx2", List.of(), List.of(), List.of(), false, "b1"),
        settings,
        List.of(),
        "0123456789ab",
        "",
        new LogitsComparison(3, 0, 0, 1, 0, 0, List.of()),
        null,
        new int[] {5, 6, 7},
        Map.of(),
        Map.of(),
        1_000_000_000);
  }

  /** The same of another build of the engine. */
  public static EngineParity built(EngineParity engine, String build) {
    EngineInfo info = engine.info();
    return new EngineParity(
        engine.label(),
        engine.modelSha256(),
        new EngineInfo(
            info.engine(),
            info.version(),
            info.backend(),
            info.libraries(),
            info.precisions(),
            info.capabilities(),
            info.hosted(),
            build),
        engine.settings(),
        engine.libraries(),
        engine.tokenChecksum(),
        engine.tokenMismatch(),
        engine.logits(),
        engine.exact(),
        engine.generated(),
        engine.outputs(),
        engine.estimates(),
        engine.startNanos());
  }

  public static EngineParity with(EngineParity engine, LogitsComparison logits) {
    return copy(engine, engine.tokenMismatch(), logits, engine.generated(), engine.outputs());
  }

  public static EngineParity with(EngineParity engine, Map<String, List<Output>> outputs) {
    return copy(engine, engine.tokenMismatch(), engine.logits(), engine.generated(), outputs);
  }

  /** The same whose calls of a workload take so long. */
  public static EngineParity estimating(EngineParity engine, String workload, long nanos) {
    return new EngineParity(
        engine.label(),
        engine.modelSha256(),
        engine.info(),
        engine.settings(),
        engine.libraries(),
        engine.tokenChecksum(),
        engine.tokenMismatch(),
        engine.logits(),
        engine.exact(),
        engine.generated(),
        engine.outputs(),
        Map.of(workload, nanos),
        engine.startNanos());
  }

  public static EngineParity generating(EngineParity engine, int... ids) {
    return copy(engine, engine.tokenMismatch(), engine.logits(), ids, engine.outputs());
  }

  /** One whose token ids differ on this text, so that nothing more was compared. */
  public static EngineParity mismatched(EngineParity engine, String text) {
    return copy(engine, text, null, new int[0], Map.of());
  }

  private static EngineParity copy(
      EngineParity engine,
      String mismatch,
      LogitsComparison logits,
      int[] generated,
      Map<String, List<Output>> outputs) {
    return new EngineParity(
        engine.label(),
        engine.modelSha256(),
        engine.info(),
        engine.settings(),
        engine.libraries(),
        engine.tokenChecksum(),
        mismatch,
        logits,
        engine.exact(),
        generated,
        outputs,
        engine.estimates(),
        engine.startNanos());
  }
}
