package io.steelyard.lab.worker;

import io.steelyard.lab.worker.LineReader.Line;
import io.steelyard.lab.worker.LineReader.TooLongException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The main program of every JVM engine: {@code WorkerMain ENGINE [FILE]} reads requests from
 * standard input and writes answers to the file, or to standard output where none is named.
 *
 * <p>The answers' stream carries the protocol alone: what the engine prints goes to standard error.
 * The process ends with its coordinator: by the kernel's signal that {@link ProcessGroup} asks for,
 * and within a second of the end of standard input even while a call is running.
 */
public final class WorkerMain {
  /** How long a call may run on after standard input has ended. */
  private static final long GRACE_MILLIS = 1_000;

  private sealed interface Input {
    record Request(byte[] line) implements Input {}

    record TooLong(String reason) implements Input {}

    record End() implements Input {}
  }

  private WorkerMain() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    if (arguments.length < 1 || arguments.length > 2) {
      System.err.println(
          "usage: WorkerMain ENGINE [FILE]   (a name or a provider's class; answers go to FILE, else"
              + " to stdout)");
      System.exit(2);
    }
    String engine = arguments[0];
    OutputStream protocol = protocol(arguments);
    InputStream requests = new FileInputStream(FileDescriptor.in);
    System.setIn(InputStream.nullInputStream());
    BlockingQueue<Input> inputs = new ArrayBlockingQueue<>(8);
    daemon("stdin", () -> read(requests, inputs));

    RequestServer server = new RequestServer(() -> EngineProviders.find(engine).create(), protocol);
    try {
      serve(inputs, server);
    } catch (IOException e) {
      System.err.println("standard output can't be written, the coordinator has gone: " + e);
      Runtime.getRuntime().halt(1);
    }
    haltAfterGrace();
    server.close();
    System.exit(0);
  }

  private static void serve(BlockingQueue<Input> inputs, RequestServer server)
      throws IOException, InterruptedException {
    boolean open = true;
    while (open) {
      switch (inputs.take()) {
        case Input.Request request -> open = server.serve(request.line());
        case Input.TooLong tooLong -> server.refuse(tooLong.reason());
        case Input.End _ -> open = false;
      }
    }
  }

  /**
   * The stream of the protocol. With a path, descriptor 1 is standard error already, so that not
   * even a native library that prints can disturb the protocol; without one, Java code alone is
   * kept off.
   */
  private static OutputStream protocol(String[] arguments) throws IOException {
    OutputStream protocol =
        arguments.length > 1
            ? new FileOutputStream(arguments[1], true)
            : new FileOutputStream(FileDescriptor.out);
    System.setOut(System.err);
    return protocol;
  }

  private static void read(InputStream stream, BlockingQueue<Input> inputs) {
    LineReader reader = new LineReader(stream, Json.MAX_LINE);
    try {
      while (true) {
        try {
          Optional<Line> line = reader.next();
          if (line.isEmpty()) {
            break;
          }
          inputs.put(new Input.Request(line.get().bytes()));
        } catch (TooLongException e) {
          inputs.put(new Input.TooLong(e.getMessage()));
        }
      }
      haltAfterGrace();
      inputs.put(new Input.End());
    } catch (IOException | InterruptedException e) {
      System.err.println("standard input can't be read: " + e);
      Runtime.getRuntime().halt(1);
    }
  }

  /** Ends the process whatever its threads do, once they have had time to end by themselves. */
  private static void haltAfterGrace() {
    daemon(
        "halt",
        () -> {
          try {
            TimeUnit.MILLISECONDS.sleep(GRACE_MILLIS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          Runtime.getRuntime().halt(0);
        });
  }

  private static void daemon(String name, Runnable work) {
    Thread.ofPlatform().daemon().name("steelyard-" + name).start(work);
  }
}
