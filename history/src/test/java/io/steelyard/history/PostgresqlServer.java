package io.steelyard.history;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A real server for as long as a test lasts, in a folder of its own, on this machine's own address.
 * The server refuses to be root, so root starts it as another user.
 */
final class PostgresqlServer implements AutoCloseable {
  private static final Path INSTALLED = Path.of("/usr/lib/postgresql");

  private final Path bin;
  private final Path folder;
  private final int port;
  private final List<String> asUser;
  private final Thread atExit = new Thread(this::stop);

  private PostgresqlServer(Path bin, Path folder, int port, List<String> asUser) {
    this.bin = bin;
    this.folder = folder;
    this.port = port;
    this.asUser = asUser;
  }

  /** Starts one; skips the test where there is none to start. */
  static PostgresqlServer start() throws Exception {
    Optional<Path> bin = binaries();
    assumeTrue(
        bin.isPresent(),
        "PostgreSQL is not installed (initdb under "
            + INSTALLED
            + "/*/bin): get it with 'apt-get install postgresql'");
    List<String> asUser = List.of();
    // Not in a test's own folder: only its owner may look into that.
    Path folder = Files.createTempDirectory(Path.of("/tmp"), "steelyard-postgresql-");
    if (System.getProperty("user.name").equals("root")) {
      String user = userExists("postgres") ? "postgres" : "nobody";
      asUser = List.of("runuser", "-u", user, "--");
      run(folder, List.of("chown", user, folder.toString()));
    }
    PostgresqlServer server = new PostgresqlServer(bin.get(), folder, freePort(), asUser);
    try {
      server.begin();
    } catch (IOException | IllegalStateException e) {
      server.close();
      throw e;
    }
    return server;
  }

  private void begin() throws Exception {
    Runtime.getRuntime().addShutdownHook(atExit);
    asUser(
        bin.resolve("initdb").toString(),
        "--pgdata=" + data(),
        "--username=steelyard",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync");
    asUser(
        bin.resolve("pg_ctl").toString(),
        "--pgdata=" + data(),
        "--log=" + folder.resolve("log"),
        "--wait",
        "--options=-p %d -k %s -c listen_addresses=127.0.0.1 -c fsync=off".formatted(port, folder),
        "start");
  }

  private Path data() {
    return folder.resolve("data");
  }

  /** The URL of its database, with a schema of the caller's. */
  String url(String schema) {
    return "jdbc:postgresql://127.0.0.1:%d/postgres?user=steelyard&currentSchema=%s"
        .formatted(port, schema);
  }

  private static Optional<Path> binaries() throws IOException {
    if (!Files.isDirectory(INSTALLED)) {
      return Optional.empty();
    }
    try (Stream<Path> versions = Files.list(INSTALLED)) {
      return versions
          .map(version -> version.resolve("bin"))
          .filter(bin -> Files.isExecutable(bin.resolve("initdb")))
          .max(Comparator.comparing(Path::toString));
    }
  }

  private static boolean userExists(String name) throws IOException {
    return Files.readAllLines(Path.of("/etc/passwd")).stream()
        .anyMatch(line -> line.startsWith(name + ":"));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void asUser(String... command) throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(asUser);
    all.addAll(List.of(command));
    run(folder, all);
  }

  private static void run(Path folder, List<String> command)
      throws IOException, InterruptedException {
    // To a file: the server keeps a pipe open, and its reader would wait for that.
    Path output = Files.createTempFile("steelyard-postgresql", ".txt");
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    int code = process.waitFor();
    String said = Files.readString(output, StandardCharsets.UTF_8);
    Files.delete(output);
    if (code != 0) {
      throw new IllegalStateException(command + " failed with " + code + ": " + said);
    }
  }

  private void stop() {
    try {
      if (Files.exists(data().resolve("postmaster.pid"))) {
        asUser(bin.resolve("pg_ctl").toString(), "--pgdata=" + data(), "--mode=immediate", "stop");
      }
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException("the server in " + folder + " was not stopped", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(atExit);
    stop();
  }
}
