package io.steelyard.lab.worker;

import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.Wire.LayersFileReport;
import io.steelyard.lab.worker.Wire.LogitsReport;
import io.steelyard.lab.worker.Wire.Nothing;
import io.steelyard.lab.worker.Wire.Request;
import io.steelyard.lab.worker.Wire.RowsRequest;
import io.steelyard.lab.worker.Wire.TokenizeReport;
import io.steelyard.lab.worker.Wire.TokenizeRequest;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Serves requests with one engine: a line in, an answer out. Whatever goes wrong in a call becomes
 * a refusal, and the server goes on; only a stream that can't be written ends it.
 */
final class RequestServer {
  /** Makes the engine at the first request, so that its failure has a request to answer. */
  @FunctionalInterface
  interface EngineSource {
    Engine create() throws EngineException;
  }

  private final EngineSource source;
  private final OutputStream out;
  private Optional<Engine> engine = Optional.empty();
  private Optional<LoadReport.Settings> loaded = Optional.empty();
  private int timedCalls;

  RequestServer(EngineSource source, OutputStream out) {
    this.source = source;
    this.out = out;
  }

  /**
   * Answers one line.
   *
   * @return false when the request was {@code close}
   * @throws IOException if the answer can't be written
   */
  boolean serve(byte[] line) throws IOException {
    long id = 0;
    String call = "";
    byte[] answer;
    try {
      Map<String, Object> message = Json.parse(line);
      id = Wire.id(message);
      Request request = Wire.parseRequest(message);
      call = request.call();
      Record result = serve(request);
      answer = Wire.ok(id, result, compileNanos(call));
    } catch (WireException e) {
      answer = Wire.refusal(id, Kind.BAD_REQUEST, e.getMessage());
    } catch (EngineException e) {
      if (e.kind() == Kind.FAILED || e.getCause() != null) {
        complain(call, e);
      }
      answer = Wire.refusal(id, e.kind(), e.getMessage());
    } catch (OutOfMemoryError e) {
      answer =
          Wire.refusal(
              id,
              Kind.FAILED,
              "the engine ran out of memory in '"
                  + call
                  + "' ("
                  + e.getMessage()
                  + "): use a smaller context, or give the worker more");
    } catch (StreamGoneException e) {
      throw e.getCause();
    } catch (IOException e) {
      answer = Wire.refusal(id, Kind.FAILED, "the rows of '" + call + "' can't be written: " + e);
    } catch (Throwable e) {
      complain(call, e);
      answer = Wire.refusal(id, Kind.FAILED, describe(call, e));
    }
    out.write(answer);
    out.flush();
    return !call.equals("close");
  }

  /** Answers a line that was too long to read. */
  void refuse(String reason) throws IOException {
    out.write(Wire.refusal(0, Kind.BAD_REQUEST, reason));
    out.flush();
  }

  /** Closes the engine, if there is one. */
  void close() {
    engine.ifPresent(Engine::close);
    engine = Optional.empty();
    loaded = Optional.empty();
  }

  private Record serve(Request request) throws EngineException, WireException, IOException {
    return switch (request.call()) {
      case "hello" -> engine().hello();
      case "load" -> load(request.parameters(LoadRequest.class));
      case "tokenize" -> tokenize(request.parameters(TokenizeRequest.class));
      case "logits" -> logits(request.parameters(RowsRequest.class));
      case "layers" -> layers(request.parameters(RowsRequest.class));
      case "prefill" -> {
        PrefillRequest prefill = request.parameters(PrefillRequest.class);
        RequestCheck.prefill(prefill, settings());
        yield engine().prefill(prefill);
      }
      case "decode" -> decode(request.id(), request.parameters(DecodeRequest.class));
      case "forward" -> {
        ForwardRequest forward = request.parameters(ForwardRequest.class);
        RequestCheck.forward(forward, settings());
        yield engine().forward(forward);
      }
      case "kernel" -> engine().kernel(request.parameters(KernelRequest.class));
      case "memory" -> engine().memory();
      case "reset" -> {
        engine().reset();
        yield Nothing.NOTHING;
      }
      case "close" -> {
        close();
        yield Nothing.NOTHING;
      }
      default -> throw EngineException.unsupported(shorten(request.call()));
    };
  }

  /**
   * What the runtime has compiled so far, told from the second timed call on: asking for it the
   * first time loads the management classes, which no cold start should pay for.
   */
  private long compileNanos(String call) {
    boolean timed = call.equals("prefill") || call.equals("decode") || call.equals("forward");
    if (!timed || timedCalls++ == 0) {
      return 0;
    }
    CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    return compiler != null && compiler.isCompilationTimeMonitoringSupported()
        ? TimeUnit.MILLISECONDS.toNanos(compiler.getTotalCompilationTime())
        : 0;
  }

  private Engine engine() throws EngineException {
    if (engine.isEmpty()) {
      engine = Optional.of(source.create());
    }
    return engine.get();
  }

  private LoadReport.Settings settings() throws EngineException {
    return loaded.orElseThrow(
        () -> new EngineException(Kind.BAD_REQUEST, "no model is loaded: call 'load' first"));
  }

  private LoadReport load(LoadRequest request) throws EngineException {
    RequestCheck.load(request);
    LoadReport report = engine().load(request);
    loaded = Optional.of(report.settings());
    return report;
  }

  private TokenizeReport tokenize(TokenizeRequest request) throws EngineException {
    settings();
    return new TokenizeReport(engine().tokenize(request.text(), request.parseSpecial()));
  }

  private LogitsReport logits(RowsRequest request) throws EngineException, IOException {
    RequestCheck.ids(request.ids(), settings());
    try (FileRowSink sink = FileRowSink.create(request.file())) {
      engine().logits(request.ids(), sink);
      sink.expectRows(request.ids().length);
      return new LogitsReport(sink.rows(), sink.width());
    }
  }

  private LayersFileReport layers(RowsRequest request) throws EngineException, IOException {
    RequestCheck.ids(request.ids(), settings());
    try (FileRowSink sink = FileRowSink.create(request.file())) {
      LayersReport report = engine().layers(request.ids(), sink);
      sink.expectRows((long) report.names().size() * request.ids().length);
      return new LayersFileReport(report.names(), request.ids().length, report.width());
    }
  }

  private DecodeReport decode(long id, DecodeRequest request) throws EngineException {
    RequestCheck.decode(request, settings());
    TokenListener listener = request.stream() ? token -> event(id, token) : TokenListener.NONE;
    return engine().decode(request, listener);
  }

  private void event(long id, int token) {
    try {
      out.write(Wire.token(id, token));
      out.flush();
    } catch (IOException e) {
      throw new StreamGoneException(e);
    }
  }

  /** The protocol's own stream can't be written; not to be taken for a failure of the engine. */
  private static final class StreamGoneException extends UncheckedIOException {
    private static final long serialVersionUID = 1L;

    StreamGoneException(IOException cause) {
      super(cause);
    }
  }

  private static void complain(String call, Throwable e) {
    System.err.println("call '" + shorten(call) + "' failed:");
    e.printStackTrace();
  }

  private static String describe(String call, Throwable e) {
    String name = e.getClass().getSimpleName();
    String message = e.getMessage() == null ? name : name + ": " + e.getMessage();
    return "'"
        + shorten(call)
        + "' failed with "
        + message
        + "; the worker's stderr holds the stack";
  }

  private static String shorten(String call) {
    return call.length() > 60 ? call.substring(0, 60) + "…" : call;
  }
}
