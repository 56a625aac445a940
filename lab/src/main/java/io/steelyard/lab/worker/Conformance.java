package io.steelyard.lab.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Puts an engine through the worker protocol, call by call, and says of each point whether it does
 * what {@code docs/writing-an-engine.md} asks of it. Whether its numbers are <em>right</em> is the
 * parity check's question; here they must only agree with each other.
 */
public final class Conformance {
  /** How a point ended. */
  public enum State {
    PASSED,
    FAILED,
    /** The engine does not serve this, or the worker had ended before. */
    SKIPPED
  }

  /**
   * One point.
   *
   * @param name what was checked
   * @param state how it ended
   * @param detail what was seen, or what was expected instead
   */
  public record Check(String name, State state, String detail) {}

  /** A point of the protocol; gives what was seen. */
  @FunctionalInterface
  interface Point {
    String check() throws WorkerException, IOException, InterruptedException, Broken;
  }

  /** What was expected and did not happen. */
  static final class Broken extends Exception {
    private static final long serialVersionUID = 1L;

    Broken(String message) {
      super(message);
    }
  }

  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private final WorkerCommand command;
  private final LoadRequest request;
  private final Path folder;
  private final Timeouts timeouts;
  private final Consumer<Check> listener;
  private final List<Check> checks = new ArrayList<>();

  private Conformance(
      WorkerCommand command,
      LoadRequest request,
      Path folder,
      Timeouts timeouts,
      Consumer<Check> listener) {
    this.command = command;
    this.request = request;
    this.folder = folder;
    this.timeouts = timeouts;
    this.listener = listener;
  }

  /**
   * Checks an engine.
   *
   * @param command how to start it
   * @param spec its options are given to {@code load}
   * @param model a model for it; without one a file of text is tried, and where the engine refuses
   *     it the points that need a model are skipped
   * @param folder takes the worker's error output and scratch files
   * @param listener told of each point as it ends
   * @return all points, in order
   */
  public static List<Check> check(
      WorkerCommand command,
      EngineSpec spec,
      Optional<Path> model,
      Path folder,
      Timeouts timeouts,
      Consumer<Check> listener)
      throws IOException {
    LoadRequest request =
        new LoadRequest(
            model.map(Path::toString).orElse(""),
            1,
            ModelConformance.CONTEXT,
            "f16",
            true,
            spec.options());
    return check(command, request, folder, timeouts, listener);
  }

  /**
   * Checks an engine on a model.
   *
   * @param command how to start it
   * @param request what it is asked to load, in every process; no model is {@code ""}
   * @param folder takes the worker's error output and scratch files
   * @param listener told of each point as it ends
   * @return all points, in order
   */
  public static List<Check> check(
      WorkerCommand command,
      LoadRequest request,
      Path folder,
      Timeouts timeouts,
      Consumer<Check> listener)
      throws IOException {
    Conformance conformance = new Conformance(command, request, folder, timeouts, listener);
    conformance.run();
    return List.copyOf(conformance.checks);
  }

  /** Whether no point failed. */
  public static boolean passed(List<Check> checks) {
    return checks.stream().noneMatch(check -> check.state() == State.FAILED);
  }

  private void run() throws IOException {
    Path log = folder.resolve("stderr.txt");
    WorkerProcess worker;
    try {
      worker = WorkerProcess.start(command, log, folder, timeouts);
    } catch (WorkerException e) {
      add(new Check("starts and answers hello", State.FAILED, e.getMessage()));
      return;
    }
    try (worker) {
      point(worker, "starts and answers hello", () -> hello(worker));
      protocol(worker);
      boolean given = !request.model().isEmpty();
      new ModelConformance(this, worker, given ? request : ofAnyFile(), given).run();
      point(worker, "tells its memory", () -> memory(worker));
      point(worker, "ends within 2 s of the end of its input", () -> endsWithInput(worker));
    }
    try (WorkerProcess second = WorkerProcess.start(command, log, folder, timeouts)) {
      point(second, "ends within 2 s of close", () -> endsWithClose(second));
    } catch (WorkerException e) {
      add(new Check("ends within 2 s of close", State.FAILED, e.getMessage()));
    }
  }

  /** Checks one point unless the worker has ended; a failure never stops the others. */
  void point(WorkerProcess worker, String name, Point point) {
    if (!worker.isAlive()) {
      skip(name, "the worker had ended");
      return;
    }
    try {
      add(new Check(name, State.PASSED, point.check()));
    } catch (WorkerException e) {
      boolean unsupported = e.unsupported();
      add(new Check(name, unsupported ? State.SKIPPED : State.FAILED, e.getMessage()));
    } catch (Broken | IOException e) {
      add(new Check(name, State.FAILED, String.valueOf(e.getMessage())));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      add(new Check(name, State.FAILED, "interrupted"));
    }
  }

  void skip(String name, String reason) {
    add(new Check(name, State.SKIPPED, reason));
  }

  private void add(Check check) {
    checks.add(check);
    listener.accept(check);
  }

  private LoadRequest ofAnyFile() {
    Path file = folder.resolve("any.model");
    try {
      Files.writeString(file, "Any text will do for an engine without a real model.\n".repeat(20));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new LoadRequest(
        file.toString(),
        request.threads(),
        request.context(),
        request.kv(),
        request.flashAttention(),
        request.options());
  }

  private static String hello(WorkerProcess worker) throws Broken {
    EngineInfo info = worker.info();
    require(!info.engine().isBlank(), "'engine' is blank");
    require(!info.version().isBlank(), "'version' is blank");
    require(!info.backend().isBlank(), "'backend' is blank");
    return info.engine() + " " + info.version() + ", " + info.backend();
  }

  private void protocol(WorkerProcess worker) {
    point(
        worker,
        "refuses an unknown call as unsupported",
        () -> refusal(worker, "{\"id\":1000001,\"call\":\"juggle\"}", 1_000_001, "unsupported"));
    point(
        worker,
        "refuses a line that is not JSON, with id 0",
        () -> refusal(worker, "{\"id\":1000002,\"call\":", 0, "bad-request"));
    point(
        worker,
        "refuses a request without its parameters",
        () ->
            refusal(
                worker,
                "{\"id\":1000003,\"call\":\"tokenize\"}",
                1_000_003,
                "bad-request",
                "unsupported"));
    point(
        worker,
        "refuses a call that needs a model before load",
        () ->
            refusal(
                worker,
                "{\"id\":1000004,\"call\":\"prefill\",\"ids\":[1,2],\"depth\":0}",
                1_000_004,
                "bad-request",
                "unsupported"));
    point(worker, "goes on after refusals", () -> worker.hello().value().engine());
  }

  private static String refusal(WorkerProcess worker, String line, long id, String... kinds)
      throws WorkerException, Broken {
    byte[] answer =
        worker.exchange("conformance", (line + "\n").getBytes(StandardCharsets.UTF_8)).bytes();
    String text = new String(answer, StandardCharsets.UTF_8);
    try {
      if (Wire.parseAnswer(answer) instanceof Wire.Answer.Refusal refusal
          && refusal.id() == id
          && List.of(kinds).contains(refusal.kind().wire())) {
        return refusal.message();
      }
    } catch (WireException e) {
      throw new Broken(e.getMessage() + ": " + text);
    }
    throw new Broken(
        "expected an error with id "
            + id
            + " of kind "
            + String.join(" or ", kinds)
            + ", got "
            + text);
  }

  private static String memory(WorkerProcess worker) throws WorkerException, IOException, Broken {
    MemoryReport report = worker.memory().value();
    long sum = 0;
    for (var part : report.parts().entrySet()) {
      require(part.getValue() >= 0, part.getKey() + " is " + part.getValue());
      sum += part.getValue();
    }
    long peak = worker.processMemory().peak();
    return "%d MB of a peak of %d MB accounted for".formatted(sum >> 20, peak >> 20);
  }

  private static String endsWithInput(WorkerProcess worker) throws Broken, InterruptedException {
    require(worker.endsWithInput(PATIENCE), "it goes on after its standard input has ended");
    return "it ended";
  }

  private static String endsWithClose(WorkerProcess worker)
      throws WorkerException, Broken, InterruptedException {
    worker.askToClose();
    require(worker.ends(PATIENCE), "it goes on after it has answered close");
    return "it ended";
  }

  static void require(boolean holds, String otherwise) throws Broken {
    if (!holds) {
      throw new Broken(otherwise);
    }
  }
}
