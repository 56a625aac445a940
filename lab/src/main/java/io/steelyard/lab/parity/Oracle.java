package io.steelyard.lab.parity;

import io.steelyard.lab.RunException;
import io.steelyard.lab.RunListener;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.text.Prompts;
import io.steelyard.lab.text.Texts;
import io.steelyard.lab.worker.DecodeReport;
import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.EngineInfo;
import io.steelyard.lab.worker.FloatRows;
import io.steelyard.lab.worker.TokenListener;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import io.steelyard.lab.worker.Workers;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;

/**
 * What every engine is held against: Steelyard's own reference tier, scalar with double
 * accumulation and a float32 KV cache. For models over {@value #LARGE} weights it is the vector
 * tier, itself held against the reference tier on {@value #CHECKED_POSITIONS} positions. Its
 * results are kept by model checksum and by the build of the engine that made them.
 *
 * @param directory where the logits lie: {@code logits-N.f32} for the N-th parity text
 * @param results everything else
 */
public record Oracle(Path directory, Results results) {

  /**
   * What the oracle found, as kept in {@code oracle.json}.
   *
   * @param tier the tier that computed it
   * @param vocabulary logits a position
   * @param tokenCases ids of the awkward tokenizer cases
   * @param prompts ids of the texts that prompts are cut from
   * @param parity ids of the parity texts
   * @param generated greedy ids after the first parity text
   * @param margins gap between the two largest logits behind each of them
   */
  public record Results(
      String tier,
      int vocabulary,
      List<int[]> tokenCases,
      List<int[]> prompts,
      List<int[]> parity,
      int[] generated,
      float[] margins) {}

  private static final String ENGINE = "steelyard";
  private static final long LARGE = 500_000_000;
  private static final int CHECKED_POSITIONS = 8;

  /** Positions of all parity texts together. */
  private static final int POSITIONS = 128;

  /** Tokens generated for the generation check. */
  static final int GENERATED = 24;

  /** The prompts of a study's timed calls. */
  public Prompts prompts(Study study) {
    return Prompts.of(study, results.prompts());
  }

  /**
   * Maps the logits of a parity text: float32 little-endian [positions, vocabulary].
   *
   * @param arena how long the mapping lives
   */
  public MemorySegment logits(int text, Arena arena) throws IOException {
    try (FileChannel channel = FileChannel.open(logitsFile(directory, text))) {
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
    }
  }

  private static Path logitsFile(Path directory, int text) {
    return directory.resolve("logits-" + text + ".f32");
  }

  /**
   * Finds the oracle's results in the cache, or computes them; in a cache that can't be written,
   * for this run alone.
   *
   * @param cache the cache's root
   * @throws RunException if the model can't be loaded or has no tokenizer
   */
  public static Oracle of(Study study, Workers workers, Path cache, RunListener listener)
      throws WorkerException {
    try (WorkerProcess worker = workers.start("oracle", ENGINE, Map.of())) {
      EngineInfo info = worker.info();
      Path directory =
          cache
              .resolve("oracle")
              .resolve(
                  String.join(
                      "-",
                      prefix(study.model().sha256()),
                      prefix(info.build()),
                      "texts" + Texts.VERSION));
      Path file = directory.resolve("oracle.json");
      if (Files.exists(file)) {
        try {
          return new Oracle(directory, Json.read(Files.readString(file), Results.class));
        } catch (JacksonException e) {
          delete(directory); // kept by another version: computed anew
        }
      }
      return compute(workers, worker, writable(directory, workers, listener), listener);
    } catch (IOException e) {
      throw new RunException(
          "can't write or read the oracle's results: " + RunException.reason(e), e);
    }
  }

  /** The directory itself, or one of the same name in the scratch folder. */
  private static Path writable(Path directory, Workers workers, RunListener listener)
      throws IOException {
    try {
      Files.createDirectories(directory.getParent());
      Files.delete(Files.createTempDirectory(directory.getParent(), "computing-"));
      return directory;
    } catch (IOException e) {
      listener.note(
          "the oracle's results can't be kept in %s (%s), so the next run computes them again: make room there or set STEELYARD_CACHE"
              .formatted(directory.getParent(), RunException.reason(e)));
      Path scratch = workers.scratch().resolve("oracle");
      Files.createDirectories(scratch);
      return scratch.resolve(directory.getFileName());
    }
  }

  private static Oracle compute(
      Workers workers, WorkerProcess first, Path directory, RunListener listener)
      throws IOException, WorkerException {
    Path scratch = Files.createTempDirectory(directory.getParent(), "computing-");
    try {
      long parameters = workers.load(first, oracleSettings("reference")).settings().parameters();
      Results results;
      if (parameters <= LARGE) {
        results = compute("reference", first, scratch, listener);
      } else {
        first.close();
        try (WorkerProcess vector = workers.start("oracle", ENGINE, oracleSettings("vector"))) {
          workers.load(vector, oracleSettings("vector"));
          results = compute("vector", vector, scratch, listener);
        }
        checkAgainstReference(workers, results, listener);
      }
      listener.progress("oracle", 1, "done");
      Files.writeString(scratch.resolve("oracle.json"), Json.line(results));
      try {
        Files.move(scratch, directory, StandardCopyOption.ATOMIC_MOVE);
      } catch (IOException e) {
        if (!Files.exists(directory.resolve("oracle.json"))) {
          throw e;
        }
        delete(scratch); // another process has put the same results there meanwhile
      }
      return new Oracle(directory, results);
    } catch (IOException | WorkerException | RuntimeException e) {
      delete(scratch);
      throw e;
    }
  }

  private static Results compute(
      String tier, WorkerProcess worker, Path scratch, RunListener listener)
      throws IOException, WorkerException {
    listener.progress("oracle", 0, "token ids");
    List<int[]> cases = new ArrayList<>();
    for (String text : Texts.tokenCases()) {
      cases.add(worker.tokenize(text, false).value());
    }
    List<int[]> prompts = new ArrayList<>();
    for (String text : Texts.prompts()) {
      prompts.add(worker.tokenize(text, false).value());
    }
    List<int[]> parity = new ArrayList<>();
    int left = POSITIONS - GENERATED;
    for (String text : Texts.parity()) {
      int[] ids = worker.tokenize(text, false).value();
      int[] cut = Arrays.copyOf(ids, Math.min(ids.length, Math.max(8, left)));
      left -= cut.length;
      parity.add(cut);
    }
    int vocabulary = 0;
    for (int i = 0; i < parity.size(); i++) {
      listener.progress(
          "oracle",
          (i + 0.5) / (parity.size() + 1),
          "logits of text " + (i + 1) + " (" + tier + ")");
      try (FloatRows rows = worker.logits(parity.get(i)).value();
          FileChannel out =
              FileChannel.open(
                  logitsFile(scratch, i), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        vocabulary = rows.width();
        ByteBuffer bytes = rows.segment().asByteBuffer();
        while (bytes.hasRemaining()) {
          out.write(bytes);
        }
      }
    }
    listener.progress("oracle", 0.8, GENERATED + " greedy tokens (" + tier + ")");
    DecodeReport generated =
        worker
            .decode(DecodeRequest.greedy(parity.getFirst(), GENERATED, true), TokenListener.NONE)
            .value();
    return new Results(
        tier, vocabulary, cases, prompts, parity, generated.ids(), generated.margins());
  }

  private static void checkAgainstReference(Workers workers, Results results, RunListener listener)
      throws IOException, WorkerException {
    listener.progress("oracle", 0.9, "checking it against the reference tier");
    int[] ids = Arrays.copyOf(results.parity().getFirst(), CHECKED_POSITIONS);
    try (WorkerProcess reference = workers.start("oracle", ENGINE, Map.of());
        WorkerProcess vector = workers.start("oracle", ENGINE, oracleSettings("vector"))) {
      workers.load(reference, oracleSettings("reference"));
      workers.load(vector, oracleSettings("vector"));
      try (FloatRows exact = reference.logits(ids).value();
          FloatRows fast = vector.logits(ids).value()) {
        LogitsComparison comparison =
            LogitsComparison.over(results.vocabulary())
                .add(exact.segment(), fast.segment())
                .comparison();
        if (!(comparison.kldMean() <= PrecisionClass.F32.meanKl())) {
          throw new RunException(
              "the vector tier is no oracle for this model: its mean KL to the reference tier is "
                  + comparison.kldMean()
                  + " on "
                  + CHECKED_POSITIONS
                  + " positions, over "
                  + PrecisionClass.F32.meanKl());
        }
      }
    }
  }

  private static Map<String, String> oracleSettings(String tier) {
    // The vector tier has no other attention, whatever the study asks of others.
    return Map.of(
        "tier", tier, "kv", "f32", "flash", "on", "context", Integer.toString(2 * POSITIONS));
  }

  private static String prefix(String checksum) {
    return checksum.substring(0, Math.min(16, checksum.length()));
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
