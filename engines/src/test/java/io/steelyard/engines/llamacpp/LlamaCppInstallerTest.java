package io.steelyard.engines.llamacpp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.steelyard.engines.InstallException;
import io.steelyard.engines.InstallProgress;
import io.steelyard.engines.InstalledEngine;
import io.steelyard.lab.worker.EngineException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LlamaCppInstallerTest {
  private static final String LINUX = "Linux amd64";
  private static final String TARBALL = "/@node-llama-cpp/linux-x64/-/linux-x64-3.22.1.tgz";

  private static byte[] archive = new byte[0];

  @TempDir private Path folder;

  private final Map<String, String> environment = new HashMap<>();
  private final AtomicInteger downloads = new AtomicInteger();
  private HttpServer server;

  @BeforeEach
  void makeEnvironment() {
    environment.put("STEELYARD_CACHE", folder.resolve("cache").toString());
    environment.put("PATH", "");
    environment.put("npm_config_userconfig", folder.resolve("npmrc").toString());
  }

  @AfterEach
  void stopServer() {
    if (server != null) {
      server.stop(0);
    }
  }

  @Test
  void saysHowToInstallWhenNothingIsThere() {
    InstalledEngine status = installer().status();
    assertThat(status.directory()).isEmpty();
    assertThat(status.message())
        .isEqualTo("llama.cpp is not installed; run ./steelyard engines install llamacpp");
    assertThatThrownBy(() -> new LlamaCppEngine(installer()).hello())
        .isInstanceOfSatisfying(
            EngineException.class,
            e -> assertThat(e.kind()).isEqualTo(EngineException.Kind.MISSING))
        .hasMessage(status.message());
  }

  @Test
  void followsTheOrderOfTheCacheVariables() throws Exception {
    environment.put("XDG_CACHE_HOME", folder.resolve("xdg").toString());
    environment.put("HOME", folder.resolve("home").toString());
    List<Path> places = new ArrayList<>();
    for (String variable : List.of("STEELYARD_CACHE", "XDG_CACHE_HOME", "HOME")) {
      assertThatThrownBy(() -> installer().install(InstallProgress.NONE))
          .isInstanceOf(InstallException.class);
      try (Stream<Path> files = Files.walk(folder)) {
        files
            .filter(file -> file.endsWith("engines/llamacpp"))
            .filter(file -> !places.contains(file))
            .forEach(places::add);
      }
      environment.remove(variable);
    }
    assertThat(places)
        .containsExactly(
            folder.resolve("cache/engines/llamacpp"),
            folder.resolve("xdg/steelyard/engines/llamacpp"),
            folder.resolve("home/.cache/steelyard/engines/llamacpp"));
  }

  @Test
  void namesWhatFailedAndTheWaysOn() {
    assertThatThrownBy(() -> installer().install(InstallProgress.NONE))
        .isInstanceOf(InstallException.class)
        .hasMessageContaining("npm: npm is not on the PATH. Install npm")
        .hasMessageContaining("--llamacpp-home FOLDER")
        .hasMessageContaining("--engine steelyard");
    assertNothingLeft();
  }

  @Test
  void fetchesFromTheUsersRegistryWithoutNpm() throws Exception {
    serve(archive());
    environment.remove(LlamaCppInstaller.ARCHIVE);
    environment.put("npm_config_registry", address("/registry/"));
    assertThat(installer().install(InstallProgress.NONE).directory()).isPresent();
    assertThat(downloads).hasValue(1);
  }

  @Test
  void goesThroughTheProxyOfTheEnvironment() throws Exception {
    serve(archive());
    environment.put(LlamaCppInstaller.ARCHIVE, "http://registry.invalid" + TARBALL);
    environment.put("http_proxy", address(""));
    assertThat(installer().install(InstallProgress.NONE).directory()).isPresent();
  }

  @Test
  void findsTheRegistryWhereNpmWouldLook() throws Exception {
    assertThat(NpmRegistry.tarball(environment)).isEmpty();
    Path file = folder.resolve("npmrc");
    Files.writeString(file, "# mine\nregistry = \"http://all.invalid/npm/\"\nca=null\n");
    assertThat(NpmRegistry.tarball(environment))
        .contains(URI.create("http://all.invalid/npm" + TARBALL));
    environment.put("NPM_CONFIG_REGISTRY", "http://variable.invalid");
    assertThat(NpmRegistry.tarball(environment))
        .contains(URI.create("http://variable.invalid" + TARBALL));
    Files.writeString(file, "@node-llama-cpp:registry=http://scope.invalid");
    assertThat(NpmRegistry.tarball(environment))
        .contains(URI.create("http://scope.invalid" + TARBALL));
    Files.writeString(file, "@node-llama-cpp:registry=http://not an address");
    assertThatThrownBy(() -> installer().install(InstallProgress.NONE))
        .isInstanceOf(InstallException.class)
        .hasMessageContaining("npm's registry is no address: http://not an address");
  }

  @Test
  void passesOnWhatNpmSays() throws Exception {
    fakeNpm(
        """
        echo 'npm error code ENOTFOUND' >&2
        echo 'npm error errno ENOTFOUND' >&2
        echo 'npm error request to the registry failed, reason: no network' >&2
        exit 7
        """);
    assertThatThrownBy(() -> installer().install(InstallProgress.NONE))
        .isInstanceOf(InstallException.class)
        .hasMessageContaining(
            "npm: npm pack ended with code 7: request to the registry failed, reason: no network");
  }

  @Test
  void refusesAnotherPackageFromNpm() throws Exception {
    fakeNpm("echo rubbish > node-llama-cpp-linux-x64-3.22.1.tgz; exit 0");
    assertThatThrownBy(() -> installer().install(InstallProgress.NONE))
        .isInstanceOf(InstallException.class)
        .hasMessageContaining(
            "npm delivered another @node-llama-cpp/linux-x64@3.22.1: its sha256 is")
        .hasMessageContaining(LlamaCppRelease.TARBALL_SHA256);
    fakeNpm("exit 0");
    assertThatThrownBy(() -> installer().install(InstallProgress.NONE))
        .hasMessageContaining("npm: npm pack left no archive");
    assertNothingLeft();
  }

  @Test
  void installsFromAnArchiveOfTheSameLibraries() throws Exception {
    List<String> steps = new ArrayList<>();
    serve(archive());
    InstalledEngine installed = installer().install((step, done, total) -> steps.add(step));
    Path place = folder.resolve("cache/engines/llamacpp/3.22.1");
    assertThat(installed.directory()).contains(place);
    assertThat(steps).first().asString().startsWith("downloading http://127.0.0.1:");
    assertThat(steps).last().asString().startsWith("installing into ");
    try (Stream<Path> names = Files.list(place)) {
      assertThat(names.map(name -> name.getFileName().toString()))
          .as("nothing but the libraries and the stamp")
          .hasSize(LlamaCppRelease.LIBRARIES.size() + 1)
          .containsAll(LlamaCppRelease.LIBRARIES.keySet());
    }
    installer().install(InstallProgress.NONE);
    assertThat(downloads).hasValue(1);
    assertNoUnfinished();
  }

  @Test
  void repairsADamagedInstallation() throws Exception {
    serve(archive());
    Path place = installer().install(InstallProgress.NONE).directory().orElseThrow();
    Path library = place.resolve(LlamaCppRelease.LLAMA_LIBRARY);
    byte[] bytes = Files.readAllBytes(library);
    bytes[bytes.length / 2] ^= 1;
    Files.write(library, bytes);
    assertThat(installer().status().message())
        .contains("libllama.v0.5.0.so")
        .contains("its sha256 is")
        .contains("to install it anew");
    assertThat(installer().install(InstallProgress.NONE).directory()).contains(place);
    assertThat(downloads).hasValue(2);
  }

  @Test
  void installsOnceForManyAtATime() throws Exception {
    serve(archive());
    Files.createDirectories(folder.resolve("cache/engines/llamacpp/.part-of-a-killed-one/x"));
    List<Callable<InstalledEngine>> tasks = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      tasks.add(() -> installer().install(InstallProgress.NONE));
    }
    try (ExecutorService threads = Executors.newFixedThreadPool(tasks.size())) {
      for (Future<InstalledEngine> result : threads.invokeAll(tasks)) {
        assertThat(result.get().directory()).isPresent();
      }
    }
    assertThat(downloads).hasValue(1);
    assertNoUnfinished();
  }

  @Test
  void refusesHostileArchives() throws Exception {
    byte[] content = new byte[100];
    String name = LlamaCppRelease.GGML_LIBRARY;
    long size = LlamaCppRelease.LIBRARIES.get(name).size();
    assertRefused(tar(Map.of("../../" + name, new byte[(int) size]), '0'), "leads out of it");
    assertRefused(tar(Map.of("/etc/" + name, new byte[(int) size]), '0'), "leads out of it");
    assertRefused(tar(Map.of("bin/" + name, content), '2'), "no plain file");
    assertRefused(tar(Map.of("bin/" + name, content), '0'), "100 bytes instead of " + size);
    assertRefused(tar(Map.of("bin/" + name, new byte[(int) size]), '0'), "has no lib");
    byte[] whole = archive();
    assertRefused(Arrays.copyOf(whole, whole.length / 2), "Unexpected end");
    assertRefused("no archive".getBytes(StandardCharsets.UTF_8), "Not in GZIP format");
    assertRefused(gzip(new byte[] {1, 2, 3}), "ends within a header");
    byte[] noTar = new byte[512];
    Arrays.fill(noTar, (byte) 'x');
    assertRefused(gzip(noTar), "no tar header");
    assertNothingLeft();
  }

  @Test
  void saysWhatTheServerAnswered() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.start();
    environment.put(LlamaCppInstaller.ARCHIVE, address("/nothing"));
    assertThatThrownBy(() -> installer().install(InstallProgress.NONE))
        .hasMessageContaining("the server answered 404");
  }

  @Test
  void saysWhenTheCacheCannotBeWritten() throws Exception {
    Path file = Files.createFile(folder.resolve("file"));
    environment.put("STEELYARD_CACHE", file.resolve("cache").toString());
    assertThatThrownBy(() -> installer().install(InstallProgress.NONE))
        .isInstanceOf(InstallException.class)
        .hasMessageContaining("can't be installed into " + file)
        .hasMessageContaining("set STEELYARD_CACHE to a folder that you can write to");
  }

  @Test
  void refusesOtherPlatforms() {
    LlamaCppInstaller mac = new LlamaCppInstaller(environment, "Mac OS X aarch64");
    assertThat(mac.status().message())
        .contains("built for Linux on x86-64 and this is Mac OS X aarch64")
        .contains("--engine steelyard");
    assertThatThrownBy(() -> mac.install(InstallProgress.NONE)).hasMessage(mac.status().message());
  }

  @Test
  void usesAFolderOfTheUsersOwnIfItHoldsTheSameLibraries() throws Exception {
    Path home = folder.resolve("home");
    Path inside = Files.createDirectories(home.resolve("package/bins/linux-x64"));
    environment.put(LlamaCppInstaller.HOME, home.toString());
    assertThat(installer().status().message())
        .contains(home + " has no ")
        .contains("unset STEELYARD_LLAMACPP_HOME");
    for (Map.Entry<String, byte[]> library : libraries().entrySet()) {
      Files.write(inside.resolve(library.getKey()), library.getValue());
    }
    assertThat(installer().status().directory()).contains(inside);
    assertThat(installer().install(InstallProgress.NONE).directory()).contains(inside);

    Path stranger = Files.createFile(inside.resolve("libggml-cuda.so"));
    assertThat(installer().status().message()).contains(stranger + " is no part of llama.cpp");
    Files.delete(stranger);
    Files.write(inside.resolve(LlamaCppRelease.BASE_LIBRARY), new byte[] {1});
    assertThat(installer().status().message()).contains("has 1 bytes instead of 919560");
    assertThatThrownBy(() -> installer().install(InstallProgress.NONE))
        .hasMessage(installer().status().message());
  }

  @Test
  void installsThroughTheRealNpm() throws Exception {
    environment.putAll(System.getenv());
    environment.put("STEELYARD_CACHE", folder.resolve("cache").toString());
    environment.remove(LlamaCppInstaller.HOME);
    environment.remove(LlamaCppInstaller.ARCHIVE);
    try {
      assertThat(installer().install(InstallProgress.NONE).directory()).isPresent();
    } catch (InstallException e) {
      Assumptions.abort("npm can't deliver: " + e.getMessage());
    }
    assertNoUnfinished();
  }

  private LlamaCppInstaller installer() {
    return new LlamaCppInstaller(environment, LINUX);
  }

  private void assertRefused(byte[] archive, String reason) throws IOException {
    serve(archive);
    assertThatThrownBy(() -> installer().install(InstallProgress.NONE))
        .isInstanceOf(InstallException.class)
        .hasMessageContaining(reason);
    server.stop(0);
  }

  private void assertNothingLeft() {
    assertThat(installer().status().message()).contains("not installed");
    assertNoUnfinished();
  }

  private void assertNoUnfinished() {
    try (Stream<Path> files = Files.list(folder.resolve("cache/engines/llamacpp"))) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .noneMatch(name -> name.startsWith(".part-"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void fakeNpm(String script) throws IOException {
    Path bin = Files.createDirectories(folder.resolve("bin"));
    Path npm = Files.writeString(bin.resolve("npm"), "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(npm, PosixFilePermissions.fromString("rwxr-xr-x"));
    environment.put("PATH", bin.toString());
  }

  private void serve(byte[] archive) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          assertThat(exchange.getRequestURI().getPath()).endsWith(".tgz");
          downloads.incrementAndGet();
          exchange.sendResponseHeaders(200, archive.length);
          try (OutputStream body = exchange.getResponseBody()) {
            body.write(archive);
          }
        });
    server.start();
    environment.put(LlamaCppInstaller.ARCHIVE, address(TARBALL));
  }

  private String address(String path) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  /** The real libraries, which only a real installation has. */
  private static Map<String, byte[]> libraries() throws IOException, InterruptedException {
    Path place = Installed.installer().status().directory().orElseThrow();
    Map<String, byte[]> files = new TreeMap<>();
    for (String name : LlamaCppRelease.LIBRARIES.keySet()) {
      files.put(name, Files.readAllBytes(place.resolve(name)));
    }
    return files;
  }

  /** All of them, packed once: that takes longer than anything else here. */
  private static synchronized byte[] archive() throws IOException, InterruptedException {
    if (archive.length == 0) {
      Map<String, byte[]> files = libraries();
      files.put("../README.md", new byte[] {1, 2, 3});
      files.put("libllama-common.so", new byte[2000]);
      archive = tar(files, '0');
    }
    return archive;
  }

  private static byte[] tar(Map<String, byte[]> files, char type) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      byte[] header = new byte[512];
      put(header, 0, file.getKey());
      put(header, 124, "%011o".formatted(file.getValue().length));
      header[156] = (byte) type;
      out.write(header);
      out.write(file.getValue());
      out.write(new byte[(512 - file.getValue().length % 512) % 512]);
    }
    out.write(new byte[1024]);
    return gzip(out.toByteArray());
  }

  private static void put(byte[] header, int at, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    System.arraycopy(bytes, 0, header, at, bytes.length);
  }

  private static byte[] gzip(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    }
    return out.toByteArray();
  }
}
