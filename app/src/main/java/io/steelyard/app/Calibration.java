package io.steelyard.app;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Roofline;
import io.steelyard.lab.RunException;
import io.steelyard.lab.calibration.Noise;
import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.study.Limits;
import io.steelyard.models.ModelFile;
import io.steelyard.models.architecture.ModelCost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;

/**
 * What was measured of this machine before: files by hardware and number of threads, in the cache.
 */
final class Calibration {
  /** Counts up when other peaks are measured, so that an older roofline is measured again. */
  private static final int PEAKS = 2;

  private final Path folder;

  private Calibration(Path folder) {
    this.folder = folder;
  }

  /**
   * @param cache the cache's root
   */
  static Calibration of(Path cache) {
    return new Calibration(cache.resolve("calibration"));
  }

  /** Where the roofline of this machine with so many threads lies. */
  Path file(int threads) {
    return folder.resolve(
        "roofline-%d-%s-%d.json".formatted(PEAKS, Environment.fingerprint(), threads));
  }

  /** Keeps a roofline for later runs. */
  void keep(Roofline roofline) {
    Path file = file(roofline.threads());
    try {
      Files.createDirectories(folder);
      Path temporary = Files.createTempFile(folder, "roofline-", ".part");
      Files.writeString(temporary, Json.pretty(roofline));
      Files.move(
          temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw unkept(file, e);
    }
  }

  /** The roofline of this machine with so many threads, if it was measured. */
  Optional<Roofline> roofline(int threads) {
    try {
      Path file = file(threads);
      return Files.exists(file)
          ? Optional.of(Json.read(Files.readString(file), Roofline.class))
          : Optional.empty();
    } catch (IOException | JacksonException e) {
      return Optional.empty(); // as good as none: it is measured again when asked for
    }
  }

  /** Where what an engine against itself showed with so many threads lies. */
  Path noiseFile(int threads) {
    return folder.resolve("noise-%s-%d.jsonl".formatted(Environment.fingerprint(), threads));
  }

  /** Adds what an engine against itself showed to what earlier calibrations found. */
  void add(int threads, List<Noise> noise) {
    Path file = noiseFile(threads);
    try {
      Files.createDirectories(folder);
      // The first is empty, and so ends a line that was cut short.
      List<String> lines = new ArrayList<>(List.of(""));
      noise.forEach(each -> lines.add(Json.line(each)));
      Files.write(file, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw unkept(file, e);
    }
  }

  /** What calibrations with so many threads found, oldest first. */
  List<Noise> noise(int threads) {
    Path file = noiseFile(threads);
    try {
      return Files.exists(file)
          ? Files.readAllLines(file).stream().flatMap(line -> noise(line).stream()).toList()
          : List.of();
    } catch (IOException e) {
      return List.of(); // as good as none
    }
  }

  private static Optional<Noise> noise(String line) {
    try {
      return line.isBlank() ? Optional.empty() : Optional.of(Json.read(line, Noise.class));
    } catch (JacksonException e) {
      return Optional.empty(); // it was cut short
    }
  }

  private static RunException unkept(Path file, IOException e) {
    return new RunException(
        "can't keep what was measured in %s (%s): make room there or set STEELYARD_CACHE"
            .formatted(file, RunException.reason(e)),
        e);
  }

  /** What this machine and a model allow, if the machine was measured. */
  Optional<Limits> limits(Path model, int threads) {
    return roofline(threads).map(roofline -> limits(roofline, model));
  }

  /**
   * What this machine allows, if it was measured.
   *
   * @param multiplied type of the products
   */
  Optional<Limits> limits(int threads, DataType multiplied) {
    return roofline(threads).map(roofline -> limits(roofline, multiplied));
  }

  private static Limits limits(Roofline roofline, DataType multiplied) {
    String limit = roofline.bound(Roofline.limit(multiplied), true);
    return Limits.ofMachine(
        roofline.threads(),
        roofline.readBytesPerSecond(),
        limit,
        roofline.productsPerSecond().getOrDefault(limit, 0.0));
  }

  private static Limits limits(Roofline roofline, Path model) {
    try (ModelFile file = ModelFile.open(model)) {
      ModelCost cost = ModelCost.of(file);
      Map<String, Double> products = roofline.productsPerSecond();
      String limit = roofline.bound(cost.limit(), true);
      return new Limits(
          roofline.threads(),
          roofline.readBytesPerSecond(),
          limit,
          products.getOrDefault(limit, 0.0),
          cost.layerBytes(),
          cost.outputBytes(),
          cost.layerProducts(),
          cost.outputProducts(),
          cost.keyValues(),
          cost.attentionProducts());
    }
  }
}
