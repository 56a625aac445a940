package io.steelyard.models.catalogue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.steelyard.models.Sha256;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A model hub with one repository, {@code owner/model}, laid out as Hugging Face's: a revision, a
 * listing with checksums, files that it has itself and large ones at another address.
 */
final class FakeRepository implements AutoCloseable {
  private static final int LARGE = 4_000;

  private final HttpServer server = server();
  private final HttpServer storage = server();
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  final Map<String, byte[]> files = new ConcurrentHashMap<>();
  final List<String> requests = new CopyOnWriteArrayList<>();
  final List<String> strayTokens = new CopyOnWriteArrayList<>();

  volatile String revision = "a".repeat(40);
  volatile int status = 200;
  volatile String token = "";

  /** The connection breaks after the first half of this file, as often as it is asked for. */
  volatile String cut = "";

  /** This file arrives with a bit turned. */
  volatile String turned = "";

  /** This file isn't there though the listing has it. */
  volatile String gone = "";

  /** The listing says that this file has an exabyte. */
  volatile String huge = "";

  FakeRepository() throws IOException {
    server.createContext("/", this::answer);
    storage.createContext("/", this::store);
    for (HttpServer each : List.of(server, storage)) {
      each.setExecutor(executor);
      each.start();
    }
  }

  private static HttpServer server() throws IOException {
    return HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
  }

  String endpoint() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    String given = exchange.getRequestHeaders().getFirst("Authorization");
    if (status != 200 || (!token.isEmpty() && !("Bearer " + token).equals(given))) {
      send(exchange, status == 200 ? 401 : status, new byte[0]);
    } else if (path.equals("/api/models/owner/model/revision/main")) {
      send(exchange, 200, "{\"sha\": \"%s\"}".formatted(revision));
    } else if (path.equals("/api/models/owner/model/tree/" + revision)) {
      send(exchange, 200, listing());
    } else if (path.startsWith("/owner/model/resolve/" + revision + "/")) {
      file(exchange, path.substring(path.lastIndexOf('/') + 1));
    } else {
      send(exchange, 404, new byte[0]);
    }
  }

  private void file(HttpExchange exchange, String name) throws IOException {
    byte[] content = name.equals(gone) ? null : files.get(name);
    if (content == null) {
      send(exchange, 404, new byte[0]);
    } else if (content.length > LARGE) {
      exchange
          .getResponseHeaders()
          .add(
              "Location", "http://127.0.0.1:%d/%s".formatted(storage.getAddress().getPort(), name));
      send(exchange, 302, new byte[0]);
    } else {
      body(exchange, name, content);
    }
  }

  private void store(HttpExchange exchange) throws IOException {
    String name = exchange.getRequestURI().getPath().substring(1);
    Optional.ofNullable(exchange.getRequestHeaders().getFirst("Authorization"))
        .ifPresent(strayTokens::add);
    body(exchange, name, files.get(name));
  }

  private void body(HttpExchange exchange, String name, byte[] all) throws IOException {
    byte[] content = all.clone();
    if (name.equals(turned)) {
      content[content.length / 2] ^= 1;
    }
    String range = exchange.getRequestHeaders().getFirst("Range");
    int from = range == null ? 0 : Integer.parseInt(range.replaceAll("bytes=(\\d+)-", "$1"));
    requests.add(name + (range == null ? "" : " from " + from));
    if (from > 0) {
      exchange
          .getResponseHeaders()
          .add(
              "Content-Range",
              "bytes %d-%d/%d".formatted(from, content.length - 1, content.length));
    }
    exchange.sendResponseHeaders(from > 0 ? 206 : 200, content.length - from);
    int half = name.equals(cut) ? from + (content.length - from) / 2 : content.length;
    exchange.getResponseBody().write(content, from, half - from);
    exchange.getResponseBody().flush();
    if (half < content.length) {
      throw new IOException("cut on purpose");
    }
    exchange.close();
  }

  private String listing() {
    List<String> rows = new ArrayList<>();
    rows.add("{\"type\": \"directory\", \"path\": \"onnx\", \"oid\": \"0\", \"size\": 0}");
    files.forEach(
        (name, content) ->
            rows.add(
                content.length > LARGE
                    ? "{\"type\": \"file\", \"path\": \"%s\", \"size\": %d, \"oid\": \"%s\", \"lfs\": {\"oid\": \"%s\", \"size\": %d}}"
                        .formatted(
                            name,
                            content.length,
                            "0".repeat(40),
                            sum(Sha256.digest(), content),
                            name.equals(huge) ? 1L << 60 : content.length)
                    : "{\"type\": \"file\", \"path\": \"%s\", \"size\": %d, \"oid\": \"%s\"}"
                        .formatted(name, content.length, blob(content))));
    return "[" + String.join(",", rows) + "]";
  }

  private static String blob(byte[] content) {
    return sum(new FileSum(FileSum.Kind.GIT, "", content.length).digest(), content);
  }

  private static String sum(MessageDigest digest, byte[] content) {
    digest.update(content);
    return FileSum.hex(digest);
  }

  private static void send(HttpExchange exchange, int code, String body) throws IOException {
    send(exchange, code, body.getBytes(StandardCharsets.UTF_8));
  }

  private static void send(HttpExchange exchange, int code, byte[] body) throws IOException {
    exchange.sendResponseHeaders(code, body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
    storage.stop(0);
    executor.shutdownNow();
  }
}
