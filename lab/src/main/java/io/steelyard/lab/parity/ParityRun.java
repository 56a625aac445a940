package io.steelyard.lab.parity;

import io.steelyard.lab.RunException;
import io.steelyard.lab.RunListener;
import io.steelyard.lab.parity.EngineParity.Output;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.lab.text.Prompts;
import io.steelyard.lab.text.Texts;
import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.EngineInfo;
import io.steelyard.lab.worker.FloatRows;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.lab.worker.TokenListener;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import io.steelyard.lab.worker.Workers;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;

/** Puts one label through everything that will be timed, and through what the oracle did. */
public final class ParityRun {
  private final Study study;
  private final Workers workers;
  private final Oracle oracle;
  private final Path cache;
  private final RunListener listener;

  /**
   * @param cache the cache's root
   */
  public ParityRun(Study study, Workers workers, Oracle oracle, Path cache, RunListener listener) {
    this.study = study;
    this.workers = workers;
    this.oracle = oracle;
    this.cache = cache;
    this.listener = listener;
  }

  /**
   * What the label does, from the cache where the same was run before. Only what passes is kept
   * there: a failure is looked at again each time.
   */
  public EngineParity of(String label) throws WorkerException {
    Study.Engine engine = study.engines().get(label);
    Workers own = workers.on(study.modelOf(label));
    try (WorkerProcess worker = own.start("parity-" + label, engine.name(), engine.options())) {
      EngineInfo info = worker.info();
      Path cached = cache.resolve("parity").resolve(key(label, engine, info) + ".json");
      if (Files.exists(cached)) {
        try {
          return Json.read(Files.readString(cached), EngineParity.class).as(label);
        } catch (JacksonException e) {
          listener.note("what parity found for " + label + " before can't be used; it runs again");
        }
      }
      LoadReport loaded = own.load(worker, engine.options());
      EngineParity result =
          measure(label, worker, info, loaded, System.nanoTime() - worker.startedNanos());
      if (result.logits() != null
          && !study.isRecoded(label)
          && PrecisionClass.exactArithmetic(loaded.settings())) {
        result = result.with(exactLogits(label, engine));
      }
      if (new ParityJudge(study, oracle).sound(result)) {
        keep(result, cached);
      }
      return result;
    } catch (IOException e) {
      throw new RunException(
          "can't read what parity needs for " + label + ": " + RunException.reason(e), e);
    }
  }

  /** The cache is but a shortcut: where it can't be written, the next run proves parity again. */
  private void keep(EngineParity result, Path cached) {
    try {
      Files.createDirectories(cached.getParent());
      Path part = Files.createTempFile(cached.getParent(), "part-", ".json");
      Files.writeString(part, Json.line(result));
      Files.move(part, cached, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      listener.note(
          "what parity found for %s can't be kept in %s (%s): make room there or set STEELYARD_CACHE"
              .formatted(result.label(), cached.getParent(), RunException.reason(e)));
    }
  }

  /** Once more with nothing rounded, in a process of its own, so that small faults show. */
  private LogitsComparison exactLogits(String label, Study.Engine engine)
      throws IOException, WorkerException {
    Map<String, String> options = new LinkedHashMap<>(engine.options());
    options.put("kv", "f32");
    try (WorkerProcess worker = workers.start("parity-" + label, engine.name(), engine.options())) {
      workers.load(worker, options);
      return logits(label, worker, oracle.results());
    }
  }

  private EngineParity measure(
      String label, WorkerProcess worker, EngineInfo info, LoadReport loaded, long startNanos)
      throws IOException, WorkerException {
    Oracle.Results expected = oracle.results();
    listener.progress("parity", 0, label + ": token ids");
    Tokens tokens = tokens(worker, expected);
    LogitsComparison logits = null;
    int[] generated = {};
    Map<String, List<Output>> outputs = new LinkedHashMap<>();
    Map<String, Long> estimates = new LinkedHashMap<>();
    if (tokens.mismatch.isEmpty()) {
      listener.progress("parity", 0.1, label + ": logits");
      logits = logits(label, worker, expected);
      generated =
          worker
              .decode(
                  DecodeRequest.greedy(
                      expected.parity().getFirst(), expected.generated().length, false),
                  TokenListener.NONE)
              .value()
              .ids();
      Prompts prompts = oracle.prompts(study);
      List<Workload> workloads = study.workloads();
      int calls = workloads.size() * prompts.count();
      int done = 0;
      for (Workload workload : workloads) {
        List<Output> given = new ArrayList<>();
        for (int prompt = 0; prompt < prompts.count(); prompt++) {
          listener.progress(
              "parity",
              0.2 + 0.8 * done++ / calls,
              label + ": " + workload.name() + " on every prompt");
          TimedCall call = TimedCall.of(worker, workload, prompts, prompt, true);
          given.add(call.output());
          estimates.put(workload.name(), call.outsideNanos());
        }
        outputs.put(workload.name(), given);
      }
    }
    listener.progress("parity", 1, label + ": done");
    return new EngineParity(
        label,
        study.modelOf(label).sha256(),
        info,
        loaded.settings(),
        loaded.libraries(),
        tokens.checksum,
        tokens.mismatch,
        logits,
        null,
        generated,
        outputs,
        estimates,
        startNanos);
  }

  private record Tokens(String checksum, String mismatch) {}

  private static Tokens tokens(WorkerProcess worker, Oracle.Results expected)
      throws WorkerException {
    List<String> texts = new ArrayList<>(Texts.tokenCases());
    texts.addAll(Texts.prompts());
    List<int[]> ids = new ArrayList<>(expected.tokenCases());
    ids.addAll(expected.prompts());
    MessageDigest digest = sha256();
    String mismatch = "";
    for (int i = 0; i < texts.size(); i++) {
      int[] own = worker.tokenize(texts.get(i), false).value();
      digest.update((Arrays.toString(own) + "\n").getBytes(StandardCharsets.UTF_8));
      if (mismatch.isEmpty() && !Arrays.equals(own, ids.get(i))) {
        mismatch = texts.get(i).lines().findFirst().orElse("");
      }
    }
    return new Tokens(HexFormat.of().formatHex(digest.digest()).substring(0, 12), mismatch);
  }

  private LogitsComparison logits(String label, WorkerProcess worker, Oracle.Results expected)
      throws IOException, WorkerException {
    LogitsComparison.Tally tally = LogitsComparison.over(expected.vocabulary());
    for (int text = 0; text < expected.parity().size(); text++) {
      try (Arena arena = Arena.ofConfined();
          FloatRows rows = worker.logits(expected.parity().get(text)).value()) {
        if (rows.width() != expected.vocabulary()) {
          throw new RunException(
              label
                  + " gives "
                  + rows.width()
                  + " logits a position where the oracle gives "
                  + expected.vocabulary());
        }
        int[] ids = expected.parity().get(text);
        tally.add(oracle.logits(text, arena), rows.segment(), ids);
      }
    }
    return tally.comparison();
  }

  /** Everything that the results depend on. */
  private String key(String label, Study.Engine engine, EngineInfo info) throws IOException {
    Map<String, Object> parts = new TreeMap<>();
    parts.put("texts", Texts.VERSION);
    parts.put("model", study.modelOf(label).sha256());
    parts.put("oracle", oracle.directory().getFileName().toString());
    parts.put("engine", info.engine() + " " + info.version() + " " + info.build());
    parts.put("program", programChecksum(engine));
    parts.put("backend", info.backend());
    parts.put("options", new TreeMap<>(engine.options()));
    parts.put("settings", study.settings());
    parts.put("workloads", study.workloads());
    study.shape().text().ifPresent(text -> parts.put("text", text));
    byte[] text = Json.line(parts).getBytes(StandardCharsets.UTF_8);
    return engine.name().replaceAll("[^A-Za-z0-9._-]+", "-")
        + "-"
        + HexFormat.of().formatHex(sha256().digest(text)).substring(0, 24);
  }

  /**
   * Over the files that a program of the user's is started with; empty for a built-in engine, whose
   * build tells all. A program's own word for its build is easily forgotten when it is edited.
   */
  private String programChecksum(Study.Engine engine) throws IOException {
    MessageDigest digest = sha256();
    List<Path> files = workers.programFiles(engine.name());
    for (Path file : files) {
      try (InputStream in = new DigestInputStream(Files.newInputStream(file), digest)) {
        in.transferTo(OutputStream.nullOutputStream());
      }
    }
    return files.isEmpty() ? "" : HexFormat.of().formatHex(digest.digest());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
