package io.steelyard.models.catalogue;

import io.steelyard.models.ProgressListener;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Downloads a file from a model hub with Hugging Face's addresses ({@code HF_ENDPOINT} names
 * another one). A broken download goes on where it stopped, in this run and in the next.
 */
final class HubFetch {
  private static final String DEFAULT_ENDPOINT = "https://huggingface.co";
  private static final int ATTEMPTS = 5;
  private static final int PARTIAL_CONTENT = 206;
  private static final int RANGE_NOT_SATISFIABLE = 416;

  /**
   * How long to wait.
   *
   * @param connect for a connection
   * @param answer for the headers of an answer, with name look-up and redirects
   * @param stall for the next bytes of a body
   * @param pause before a broken download is taken up again
   */
  record Patience(Duration connect, Duration answer, Duration stall, Duration pause) {
    static final Patience USUAL =
        new Patience(
            Duration.ofSeconds(4),
            Duration.ofSeconds(10),
            Duration.ofSeconds(30),
            Duration.ofSeconds(1));
  }

  private final Map<String, String> environment;
  private final Patience patience;

  HubFetch(Map<String, String> environment, Patience patience) {
    this.environment = environment;
    this.patience = patience;
  }

  /** The address of a file. */
  URI address(Source.Hub source) {
    String endpoint = environment.getOrDefault("HF_ENDPOINT", "");
    String base = (endpoint.isEmpty() ? DEFAULT_ENDPOINT : endpoint).replaceFirst("/+$", "");
    return URI.create(base + "/" + source.repository() + "/resolve/main/" + source.file());
  }

  /**
   * Downloads into a partial file until it is complete and verified.
   *
   * @throws SourceFailure if the hub can't be reached or has another file
   */
  void fetch(Source.Hub source, PartialFile file, ResolveListener listener) throws SourceFailure {
    URI address = address(source);
    HttpClient client =
        HttpClient.newBuilder()
            .connectTimeout(patience.connect())
            .followRedirects(HttpClient.Redirect.NORMAL)
            .proxy(new EnvironmentProxy(environment))
            .build();
    try {
      download(client, address, file, listener);
    } finally {
      client.shutdownNow();
    }
  }

  private void download(HttpClient client, URI address, PartialFile file, ResolveListener listener)
      throws SourceFailure {
    boolean resumed = file.size() > 0;
    if (resumed && !file.complete()) {
      listener.note("going on with a download at %,d bytes".formatted(file.size()));
    }
    ProgressListener progress = listener.begin("downloading from " + address.getHost());
    int failures = 0;
    while (true) {
      try {
        while (!file.complete()) {
          attempt(client, address, file, progress);
        }
        PartialFile.Verification verification = file.verify();
        if (verification.passed()) {
          return;
        }
        if (!resumed) {
          throw new SourceFailure("it has another file, whose SHA-256 is " + verification.sum());
        }
        listener.note("what an earlier download left was damaged; beginning again");
        resumed = false;
      } catch (IOException e) {
        failures++;
        if (file.size() == 0 || failures == ATTEMPTS) {
          throw new SourceFailure(reason(e), e);
        }
        listener.note(
            "download broke at %,d bytes (%s); going on".formatted(file.size(), reason(e)));
        pause();
      }
    }
  }

  private void attempt(HttpClient client, URI address, PartialFile file, ProgressListener progress)
      throws IOException, SourceFailure {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(address)
            .timeout(patience.answer())
            .header("User-Agent", "steelyard");
    if (file.size() > 0) {
      request.header("Range", "bytes=" + file.size() + "-");
    }
    HttpResponse<InputStream> response = send(client, request.build());
    try (StallGuard body = new StallGuard(response.body(), patience.stall())) {
      int status = response.statusCode();
      switch (status) {
        case 200, PARTIAL_CONTENT -> {
          if (status == PARTIAL_CONTENT) {
            requireRange(response, file.size());
          } else {
            file.restart(); // a server that ignores ranges sends everything
          }
          requireSize(response, file);
          if (!file.append(body, progress)) {
            throw new IOException("the connection ended early");
          }
        }
        case RANGE_NOT_SATISFIABLE -> {
          if (file.size() == 0) {
            throw new SourceFailure("it failed with HTTP " + status);
          }
          file.restart();
        }
        case 404 -> throw new SourceFailure("it has no such file (HTTP 404)");
        case 401, 403, 407 -> throw new SourceFailure("it refuses access (HTTP " + status + ")");
        default -> throw new SourceFailure("it failed with HTTP " + status);
      }
    }
  }

  /** Another file is refused before its hundreds of megabytes are fetched. */
  private static void requireSize(HttpResponse<?> response, PartialFile file) throws SourceFailure {
    long length = response.headers().firstValueAsLong("Content-Length").orElse(-1);
    if (length >= 0 && file.size() + length != file.wantedBytes()) {
      throw new SourceFailure(
          "it has another file, of %,d bytes instead of the catalogue's %,d"
              .formatted(file.size() + length, file.wantedBytes()));
    }
  }

  private static void requireRange(HttpResponse<?> response, long from) throws SourceFailure {
    Optional<String> range = response.headers().firstValue("Content-Range");
    if (range.isEmpty() || !range.get().startsWith("bytes " + from + "-")) {
      throw new SourceFailure(
          "it answered a request from byte %d with the range '%s'"
              .formatted(from, range.orElse("")));
    }
  }

  /** Waits no longer than allowed even where the client's own limits don't reach: name look-up. */
  private HttpResponse<InputStream> send(HttpClient client, HttpRequest request)
      throws IOException {
    FutureTask<HttpResponse<InputStream>> task =
        new FutureTask<>(() -> client.send(request, HttpResponse.BodyHandlers.ofInputStream()));
    Thread sender = Thread.ofPlatform().daemon().name("model-hub").start(task);
    try {
      return task.get(patience.answer().toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException io) {
        throw io;
      }
      throw new IOException(e.getCause());
    } catch (TimeoutException e) {
      sender.interrupt();
      throw new HttpTimeoutException("no answer");
    } catch (InterruptedException e) {
      sender.interrupt();
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    }
  }

  private void pause() throws SourceFailure {
    try {
      Thread.sleep(patience.pause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SourceFailure("the download was interrupted", e);
    }
  }

  private String reason(IOException e) {
    Throwable cause = e;
    while (cause.getCause() != null && cause.getMessage() == null) {
      cause = cause.getCause();
    }
    if (e instanceof HttpConnectTimeoutException) {
      return "unreachable: no connection within %.0f s".formatted(seconds(patience.connect()));
    }
    if (e instanceof HttpTimeoutException) {
      return "unreachable: no answer within %.0f s".formatted(seconds(patience.answer()));
    }
    if (cause instanceof UnresolvedAddressException || cause instanceof UnknownHostException) {
      return "unreachable: its name can't be resolved";
    }
    if (e instanceof ConnectException) {
      return "unreachable: connection refused";
    }
    String message = cause.getMessage();
    return message == null ? cause.getClass().getSimpleName() : message;
  }

  private static double seconds(Duration duration) {
    return duration.toMillis() / 1000.0;
  }
}
