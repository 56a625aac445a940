package io.steelyard.lab.benchmark;

import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** Finds the benchmarks that a class of the user's registers. */
public final class BenchmarkClass {
  private BenchmarkClass() {}

  /** The places of a class path. */
  public static List<Path> places(String classPath) throws EngineException {
    List<Path> places = new ArrayList<>();
    for (String place : classPath.split(File.pathSeparator, -1)) {
      try {
        if (!place.isEmpty()) {
          places.add(Path.of(place).toAbsolutePath());
        }
      } catch (InvalidPathException e) {
        throw new EngineException(
            Kind.BAD_REQUEST, "the class path holds '%s', which is no path".formatted(place), e);
      }
    }
    return places;
  }

  /**
   * The benchmarks of a class; its class loader stays open with them.
   *
   * @param classPath where it and what it needs lies, beside Steelyard's own classes
   * @throws EngineException if it isn't there, can't be made, or registers nothing that can be
   *     measured
   */
  public static List<Benchmark<?, ?>> load(String classPath, String className)
      throws EngineException {
    List<URL> urls = new ArrayList<>();
    try {
      for (Path place : places(classPath)) {
        urls.add(place.toUri().toURL());
      }
    } catch (MalformedURLException e) {
      throw new IllegalStateException("every path has a URL", e);
    }
    ClassLoader loader =
        new URLClassLoader(urls.toArray(URL[]::new), Benchmarks.class.getClassLoader());
    List<Benchmark<?, ?>> benchmarks;
    try {
      Class<?> found = Class.forName(className, true, loader);
      benchmarks =
          List.copyOf(
              found.asSubclass(Benchmarks.class).getConstructor().newInstance().benchmarks());
    } catch (ClassNotFoundException e) {
      throw new EngineException(
          Kind.MISSING,
          "there is no class %s in %s: name its folder or archive with --classpath"
              .formatted(className, classPath.isEmpty() ? "Steelyard's own classes" : classPath),
          e);
    } catch (ClassCastException e) {
      throw new EngineException(
          Kind.BAD_REQUEST,
          "%s registers no benchmarks: it must implement %s"
              .formatted(className, Benchmarks.class.getName()),
          e);
    } catch (NoSuchMethodException | IllegalAccessException | InstantiationException e) {
      throw new EngineException(
          Kind.BAD_REQUEST,
          className
              + " can't be made: it must be public, with a public constructor without"
              + " parameters",
          e);
    } catch (ReflectiveOperationException e) {
      throw new EngineException(Kind.FAILED, className + " can't be made: " + e.getCause(), e);
    } catch (RuntimeException | LinkageError e) {
      throw new EngineException(
          Kind.FAILED, "%s can't tell its benchmarks: %s".formatted(className, e), e);
    }
    check(className, benchmarks);
    return benchmarks;
  }

  private static void check(String className, List<Benchmark<?, ?>> benchmarks)
      throws EngineException {
    if (benchmarks.isEmpty()) {
      throw new EngineException(Kind.BAD_REQUEST, className + " registers no benchmark");
    }
    TreeSet<String> names = new TreeSet<>();
    for (Benchmark<?, ?> benchmark : benchmarks) {
      if (!names.add(benchmark.name())) {
        throw new EngineException(
            Kind.BAD_REQUEST,
            "%s registers two benchmarks '%s'".formatted(className, benchmark.name()));
      }
      if (benchmark.workloads().isEmpty()) {
        throw new EngineException(
            Kind.BAD_REQUEST,
            "benchmark '%s' has no workload: add one with workload(name, input)"
                .formatted(benchmark.name()));
      }
    }
  }
}
