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
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Downloads a file from a model hub with Hugging Face's addresses ({@code HF_ENDPOINT} names
 * another one, {@code HF_TOKEN} an account). A broken download goes on where it stopped, in this
 * run and in the next.
 */
final class HubFetch {
  private static final String DEFAULT_ENDPOINT = "https://huggingface.co";
  private static final int ATTEMPTS = 5;
  private static final int MOST_REDIRECTS = 5;
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
    return address(source.repository(), "main", source.file());
  }

  /** The address of a file of a revision. */
  URI address(String repository, String revision, String file) {
    return URI.create("%s/%s/resolve/%s/%s".formatted(endpoint(), repository, revision, file));
  }

  /** Where people read about a model. */
  URI page(String repository) {
    return URI.create(endpoint() + "/" + repository);
  }

  private String endpoint() {
    String endpoint = environment.getOrDefault("HF_ENDPOINT", "");
    return (endpoint.isEmpty() ? DEFAULT_ENDPOINT : endpoint).replaceFirst("/+$", "");
  }

  /**
   * Downloads into a partial file until it is complete and verified.
   *
   * @throws SourceFailure if the hub can't be reached or has another file
   */
  void fetch(Source.Hub source, PartialFile file, ResolveListener listener) throws SourceFailure {
    fetch(address(source), file, listener);
  }

  /** The same from an address. */
  void fetch(URI address, PartialFile file, ResolveListener listener) throws SourceFailure {
    HttpClient client = client();
    try {
      download(client, address, file, listener);
    } finally {
      client.shutdownNow();
    }
  }

  /**
   * What the hub's interface for programs answers.
   *
   * @param path from the hub's address on
   * @param most bytes that such an answer may have
   * @throws SourceFailure if the hub can't be reached, refuses, or answers something else
   */
  JsonNode json(Source.Repository source, String path, int most) throws SourceFailure {
    HttpClient client = client();
    try {
      HttpResponse<InputStream> response = send(client, URI.create(endpoint() + path), 0);
      try (StallGuard body = new StallGuard(response.body(), patience.stall())) {
        if (response.statusCode() != 200) {
          throw refusal(response.statusCode());
        }
        byte[] bytes = body.readNBytes(most + 1);
        if (bytes.length > most) {
          throw new SourceFailure(
              "its listing of %s has more than %,d bytes".formatted(source.repository(), most));
        }
        return JsonMapper.shared().readTree(bytes);
      }
    } catch (JacksonException e) {
      throw new SourceFailure("its listing of %s is no JSON".formatted(source.repository()), e);
    } catch (IOException e) {
      throw new SourceFailure(reason(e), e);
    } finally {
      client.shutdownNow();
    }
  }

  private HttpClient client() {
    return HttpClient.newBuilder()
        .connectTimeout(patience.connect())
        .followRedirects(HttpClient.Redirect.NEVER)
        .proxy(new EnvironmentProxy(environment))
        .build();
  }

  private static SourceFailure refusal(int status) {
    return switch (status) {
      case 404 -> new SourceFailure("it has no such file (HTTP 404)");
      case 401, 403, 407 -> new SourceFailure("it refuses access (HTTP " + status + ")", true);
      default -> new SourceFailure("it failed with HTTP " + status);
    };
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
          throw new SourceFailure(
              "it has another file, whose %s is %s".formatted(file.sumLabel(), verification.sum()));
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
    HttpResponse<InputStream> response = send(client, address, file.size());
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
        default -> throw refusal(status);
      }
    }
  }

  /** Another file is refused before its hundreds of megabytes are fetched. */
  private static void requireSize(HttpResponse<?> response, PartialFile file) throws SourceFailure {
    long length = response.headers().firstValueAsLong("Content-Length").orElse(-1);
    if (length >= 0 && file.size() + length != file.wantedBytes()) {
      throw new SourceFailure(
          "it has another file, of %,d bytes instead of the expected %,d"
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

  /** Asks for an address, and for those that it leads to; the token goes to the hub alone. */
  private HttpResponse<InputStream> send(HttpClient client, URI address, long from)
      throws IOException, SourceFailure {
    URI at = address;
    for (int hop = 0; hop <= MOST_REDIRECTS; hop++) {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(at).timeout(patience.answer()).header("User-Agent", "steelyard");
      String token = environment.getOrDefault("HF_TOKEN", "").strip();
      if (!token.isEmpty() && sameHost(at, URI.create(endpoint()))) {
        request.header("Authorization", "Bearer " + token);
      }
      if (from > 0) {
        request.header("Range", "bytes=" + from + "-");
      }
      HttpResponse<InputStream> response = send(client, request.build());
      Optional<String> location = response.headers().firstValue("Location");
      if (response.statusCode() / 100 != 3 || location.isEmpty()) {
        return response;
      }
      response.body().close();
      URI next = resolve(at, location.get());
      if (at.getScheme().equals("https") && !"https".equals(next.getScheme())) {
        throw new SourceFailure("it leads from https to " + next.getScheme());
      }
      at = next;
    }
    throw new SourceFailure("it leads on more than %d times".formatted(MOST_REDIRECTS));
  }

  private static URI resolve(URI at, String location) throws SourceFailure {
    try {
      URI next = at.resolve(location);
      if (next.getHost() == null || next.getScheme() == null) {
        throw new SourceFailure("it leads to no address");
      }
      return next;
    } catch (IllegalArgumentException e) {
      throw new SourceFailure("it leads to no address", e);
    }
  }

  private static boolean sameHost(URI a, URI b) {
    return a.getScheme().equals(b.getScheme())
        && a.getHost().equalsIgnoreCase(b.getHost())
        && a.getPort() == b.getPort();
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
