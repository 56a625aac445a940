package io.steelyard.lab.environment;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * What a run was made on, as nested maps for {@code environment.json}. Two runs are on the same
 * hardware when their {@code hardware} parts are equal. What can't be read is left out, never
 * guessed.
 */
public final class Environment {
  private static final Path CPU = Path.of("/sys/devices/system/cpu");

  private Environment() {}

  /**
   * Reads the present environment.
   *
   * @param project the repository that Steelyard runs from
   */
  public static Map<String, Object> read(Path project) {
    Map<String, Object> environment = new LinkedHashMap<>();
    environment.put("hardware", hardware());
    environment.put("system", system());
    environment.put("runtime", runtime());
    environment.put("repository", repository(project));
    return environment;
  }

  /** The processor's name, for a line in a report. */
  public static String processor() {
    return cpuInfo("model name");
  }

  /** The processors that this process may run on, such as {@code 0-1}; empty where not known. */
  public static String affinity() {
    return field(Path.of("/proc/self/status"), "Cpus_allowed_list");
  }

  /**
   * Names the hardware that this runs on: SHA-256, in hexadecimal, of the {@code hardware} part.
   * The same hardware has the same name.
   */
  public static String fingerprint() {
    try {
      byte[] text = hardware().toString().getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static Map<String, Object> hardware() {
    Map<String, Object> hardware = new LinkedHashMap<>();
    put(hardware, "processor", cpuInfo("model name"));
    put(hardware, "vendor", cpuInfo("vendor_id"));
    put(hardware, "family", cpuInfo("cpu family"));
    put(hardware, "model", cpuInfo("model"));
    put(hardware, "stepping", cpuInfo("stepping"));
    put(hardware, "flags", cpuInfo("flags"));
    hardware.put("cores", Runtime.getRuntime().availableProcessors());
    put(hardware, "smt", text(CPU.resolve("smt/active")));
    put(hardware, "caches", String.join(", ", caches()));
    put(hardware, "memory", field(Path.of("/proc/meminfo"), "MemTotal"));
    put(hardware, "numa nodes", text(Path.of("/sys/devices/system/node/online")));
    put(hardware, "architecture", System.getProperty("os.arch"));
    return hardware;
  }

  private static Map<String, Object> system() {
    Map<String, Object> system = new LinkedHashMap<>();
    put(system, "kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    put(system, "hypervisor", text(Path.of("/sys/hypervisor/type")));
    put(system, "virtual", cpuInfo("flags").contains("hypervisor") ? "yes" : "no");
    put(system, "governor", text(CPU.resolve("cpu0/cpufreq/scaling_governor")));
    put(system, "boost", text(CPU.resolve("cpufreq/boost")));
    put(system, "affinity", affinity());
    put(
        system,
        "transparent huge pages",
        text(Path.of("/sys/kernel/mm/transparent_hugepage/enabled")));
    put(system, "cgroup cpu.max", text(Path.of("/sys/fs/cgroup/cpu.max")));
    put(system, "cgroup memory.max", text(Path.of("/sys/fs/cgroup/memory.max")));
    put(system, "load average", text(Path.of("/proc/loadavg")));
    return system;
  }

  private static Map<String, Object> runtime() {
    Map<String, Object> runtime = new LinkedHashMap<>();
    put(runtime, "jdk", System.getProperty("java.vendor") + " " + Runtime.version());
    runtime.put("flags", ManagementFactory.getRuntimeMXBean().getInputArguments());
    return runtime;
  }

  private static Map<String, Object> repository(Path project) {
    Map<String, Object> repository = new LinkedHashMap<>();
    put(repository, "commit", git(project, "rev-parse", "HEAD"));
    if (repository.containsKey("commit")) {
      repository.put("dirty", !git(project, "status", "--porcelain").isEmpty());
    }
    return repository;
  }

  private static String git(Path project, String... arguments) {
    List<String> command = new ArrayList<>(List.of("git", "-C", project.toString()));
    command.addAll(List.of(arguments));
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.waitFor(5, TimeUnit.SECONDS) && process.exitValue() == 0 ? output.strip() : "";
    } catch (IOException e) {
      return ""; // no git here: the run is then from no known commit
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }

  private static List<String> caches() {
    List<String> caches = new ArrayList<>();
    try (Stream<Path> indexes = Files.list(CPU.resolve("cpu0/cache"))) {
      for (Path index :
          indexes.filter(p -> p.getFileName().toString().startsWith("index")).sorted().toList()) {
        caches.add(
            "L%s %s %s"
                .formatted(
                    text(index.resolve("level")),
                    text(index.resolve("type")),
                    text(index.resolve("size"))));
      }
    } catch (IOException e) {
      return List.of();
    }
    return caches;
  }

  private static void put(Map<String, Object> map, String key, String value) {
    if (!value.isEmpty()) {
      map.put(key, value);
    }
  }

  private static String cpuInfo(String key) {
    return field(Path.of("/proc/cpuinfo"), key);
  }

  private static String field(Path file, String key) {
    return text(file)
        .lines()
        .filter(line -> line.split(":", 2)[0].strip().equals(key))
        .findFirst()
        .map(line -> line.substring(line.indexOf(':') + 1).strip())
        .orElse("");
  }

  private static String text(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return "";
    }
  }
}
