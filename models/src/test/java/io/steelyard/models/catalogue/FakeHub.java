package io.steelyard.models.catalogue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** A model hub with one file, and with faults that can be switched on. */
final class FakeHub implements AutoCloseable {
  private final HttpServer server;
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  final List<String> requests = new CopyOnWriteArrayList<>();

  volatile byte[] file;
  volatile int status = 200;
  volatile boolean honoursRanges = true;
  volatile boolean announcesLength = true;

  /** Cuts this many answers in the middle. */
  final AtomicInteger cuts = new AtomicInteger();

  /** If set, answers stop in the middle until it opens. */
  volatile CountDownLatch gate = new CountDownLatch(0);

  FakeHub(byte[] file) throws IOException {
    this.file = file;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(executor);
    server.createContext("/", this::answer);
    server.start();
  }

  String endpoint() {
    return "http://" + server.getAddress().getHostString() + ":" + server.getAddress().getPort();
  }

  private void answer(HttpExchange exchange) throws IOException {
    String range = exchange.getRequestHeaders().getFirst("Range");
    requests.add(exchange.getRequestURI().getPath() + (range == null ? "" : " " + range));
    int from = 0;
    int code = status;
    if (range != null && honoursRanges) {
      from = Integer.parseInt(range.replaceAll("bytes=(\\d+)-", "$1"));
      exchange
          .getResponseHeaders()
          .add("Content-Range", "bytes %d-%d/%d".formatted(from, file.length - 1, file.length));
      code = 206;
    }
    int length = file.length - from;
    exchange.sendResponseHeaders(code, announcesLength ? length : 0);
    OutputStream out = exchange.getResponseBody();
    out.write(file, from, length / 2);
    out.flush();
    boolean cut = cuts.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
    try {
      gate.await();
    } catch (InterruptedException e) {
      cut = true;
    }
    if (cut) {
      throw new IOException("cut on purpose");
    }
    out.write(file, from + length / 2, length - length / 2);
    exchange.close();
  }

  @Override
  public void close() {
    gate.countDown();
    server.stop(0);
    executor.shutdownNow();
  }
}
