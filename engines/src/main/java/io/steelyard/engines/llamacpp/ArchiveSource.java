package io.steelyard.engines.llamacpp;

import io.steelyard.engines.InstallProgress;
import io.steelyard.models.ExternalTool;
import io.steelyard.models.Sha256;
import io.steelyard.models.catalogue.EnvironmentProxy;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A place to get an archive of llama.cpp's libraries from. */
sealed interface ArchiveSource {
  /** The source's name in messages. */
  String name();

  /**
   * Fetches the archive into a folder that is empty but for other sources' failed attempts.
   *
   * @return the archive
   * @throws IOException in a few words why not
   */
  Path fetch(Path folder, InstallProgress progress) throws IOException, InterruptedException;

  /** The user's own npm, which knows about registries, proxies and credentials. */
  record Npm(Map<String, String> environment) implements ArchiveSource {
    private static final Duration LIMIT = Duration.ofMinutes(5);

    @Override
    public String name() {
      return "npm";
    }

    @Override
    public Path fetch(Path folder, InstallProgress progress)
        throws IOException, InterruptedException {
      Path npm =
          ExternalTool.find("npm", environment)
              .orElseThrow(() -> new IOException("npm is not on the PATH"));
      progress.report("fetching " + spec() + " through npm", 0, -1);
      Path place = Files.createDirectory(folder.resolve("npm"));
      Path log = folder.resolve("npm.log");
      int code =
          ExternalTool.run(
              List.of(
                  npm.toString(),
                  "pack",
                  spec(),
                  "--loglevel=error",
                  "--prefer-offline",
                  "--fetch-retries=1",
                  "--fetch-retry-mintimeout=1000",
                  "--fetch-retry-maxtimeout=5000"),
              place,
              environment,
              log,
              LIMIT);
      if (code != 0) {
        throw new IOException("npm pack ended with code %d: %s".formatted(code, reason(log)));
      }
      try (Stream<Path> files = Files.list(place)) {
        Path archive =
            files
                .filter(file -> file.getFileName().toString().endsWith(".tgz"))
                .findFirst()
                .orElseThrow(() -> new IOException("npm pack left no archive"));
        String sha256 = Sha256.of(archive);
        if (!sha256.equals(LlamaCppRelease.TARBALL_SHA256)) {
          throw new IOException(
              "npm delivered another %s: its sha256 is %s instead of %s"
                  .formatted(spec(), sha256, LlamaCppRelease.TARBALL_SHA256));
        }
        return archive;
      }
    }

    private static String spec() {
      return LlamaCppRelease.PACKAGE + "@" + LlamaCppRelease.PACKAGE_VERSION;
    }

    /** The first line that says something. */
    private static String reason(Path log) throws IOException {
      String text = new String(Files.readAllBytes(log), StandardCharsets.UTF_8);
      List<String> lines =
          text.lines()
              .map(line -> line.replaceFirst("^npm (ERR!|error) *", "").strip())
              .filter(line -> !line.isEmpty())
              .toList();
      return lines.stream()
          .filter(line -> !line.startsWith("code ") && !line.startsWith("errno "))
          .findFirst()
          .orElse(lines.isEmpty() ? "it gave no reason" : lines.getFirst());
    }
  }

  /**
   * An archive at an address.
   *
   * @param environment the proxy variables are followed
   */
  record Download(URI address, Map<String, String> environment) implements ArchiveSource {
    private static final int TIMEOUT_MILLIS = 30_000;

    @Override
    public String name() {
      return address.toString();
    }

    @Override
    public Path fetch(Path folder, InstallProgress progress) throws IOException {
      String step = "downloading " + address;
      progress.report(step, 0, -1);
      URLConnection connection =
          address
              .toURL()
              .openConnection(new EnvironmentProxy(environment).select(address).getFirst());
      connection.setConnectTimeout(TIMEOUT_MILLIS);
      connection.setReadTimeout(TIMEOUT_MILLIS);
      if (connection instanceof HttpURLConnection http && http.getResponseCode() != 200) {
        throw new IOException("the server answered " + http.getResponseCode());
      }
      Path archive = folder.resolve("archive.tar.gz");
      long total = connection.getContentLengthLong();
      long done = 0;
      try (InputStream in = connection.getInputStream();
          OutputStream out = Files.newOutputStream(archive)) {
        byte[] buffer = new byte[1 << 16];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          out.write(buffer, 0, n);
          done += n;
          progress.report(step, done, total);
          if (done > LlamaCppRelease.MOST_ARCHIVE_BYTES) {
            throw new IOException("the archive is larger than is plausible");
          }
        }
      }
      if (total > 0 && done != total) {
        throw new IOException("the download broke off after %d of %d bytes".formatted(done, total));
      }
      return archive;
    }
  }
}
