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
import java.util.concurrent.locks.LockSupport;

/**
 * The main program of every JVM engine: {@code WorkerMain ENGINE} speaks the worker protocol on its
 * standard streams.
 *
 * <p>Standard output carries the protocol alone: what the engine and its native libraries print
 * goes to standard error. The process ends with its coordinator: by the kernel's signal at the
 * parent's death, and within a second of the end of standard input even while a call is running.
 */
public final class WorkerMain {
  /** Environment variable that holds the coordinator's process id. */
  static final String COORDINATOR = "STEELYARD_COORDINATOR";

  /** How long a call may run on after standard input has ended. */
  private static final long GRACE_MILLIS = 1_000;

  private sealed interface Input {
    record Request(byte[] line) implements Input {}

    record TooLong(String reason) implements Input {}

    record End() implements Input {}
  }

  private WorkerMain() {}

  public static void main(String[] arguments) throws InterruptedException {
    if (arguments.length != 1) {
      System.err.println(
          "usage: WorkerMain ENGINE   (speaks the worker protocol on stdin and stdout)");
      System.exit(2);
    }
    String engine = arguments[0];
    OutputStream protocol = takeOverStandardOutput();
    InputStream requests = new FileInputStream(FileDescriptor.in);
    System.setIn(InputStream.nullInputStream());
    BlockingQueue<Input> inputs = new ArrayBlockingQueue<>(8);
    daemon("stdin", () -> read(requests, inputs));
    daemon("parent", WorkerMain::dieWithCoordinator);

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
   * The stream of the protocol. Descriptor 1 itself is turned into standard error, so that a native
   * library which prints can't disturb the protocol.
   */
  private static OutputStream takeOverStandardOutput() {
    OutputStream protocol = new FileOutputStream(FileDescriptor.out);
    int copy = Posix.duplicate(1);
    if (copy >= 0) {
      try {
        protocol = new FileOutputStream("/dev/fd/" + copy, true);
        Posix.redirect(2, 1);
      } catch (IOException e) {
        System.err.println(
            "standard output can't be set aside, native libraries must not print: " + e);
      }
    }
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

  private static void dieWithCoordinator() {
    String coordinator = System.getenv(COORDINATOR);
    if (coordinator == null || !System.getProperty("os.name").equals("Linux")) {
      return;
    }
    Posix.dieWithParent();
    // The parent may have died before the kernel was asked.
    long parent = ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(0L);
    if (!coordinator.equals(Long.toString(parent))) {
      Runtime.getRuntime().halt(1);
    }
    // The kernel forgets the wish when the thread that made it ends.
    while (true) {
      LockSupport.park();
    }
  }

  private static void daemon(String name, Runnable work) {
    Thread.ofPlatform().daemon().name("steelyard-" + name).start(work);
  }
}
