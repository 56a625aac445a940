package io.steelyard.app;

import io.steelyard.lab.benchmark.Benchmark;
import io.steelyard.lab.benchmark.BenchmarkClass;
import io.steelyard.lab.benchmark.BenchmarkProtocol;
import io.steelyard.lab.run.BenchmarkRun;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.EngineException;
import java.io.File;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "java",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Measures benchmarks of your own, by the same blocks and statistics as engines.",
      "",
      "WHAT is a class that implements io.steelyard.lab.benchmark.Benchmarks, or a source file with"
          + " one, which is compiled first. Each variant must give what the baseline gives before"
          + " anything is timed; docs/benchmarks-of-your-own.md says how to write one.",
      "",
      "Exit codes: 0 measured, 5 a variant computes something else."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard bench java docs/examples/Sums.java",
      "  ./steelyard bench java --classpath target/classes my.project.ParserBenchmarks --budget 5m"
    })
final class JavaBenchCommand implements Callable<Integer> {
  private static final int USUAL_TRIALS = 5;

  /** Code that is compiled as it runs needs more calls than a model, and they are short. */
  private static final int MOST_WARM_UP_CALLS = 60;

  @Spec CommandSpec spec;

  @Parameters(paramLabel = "WHAT", description = "a class, or a source file")
  String what;

  @Option(
      names = {"-cp", "--classpath"},
      paramLabel = "PATH",
      defaultValue = "",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      description = "folders and archives with the class and all that it needs")
  String classPath;

  @Option(
      names = "--benchmark",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      paramLabel = "NAME",
      description = "this benchmark alone; repeatable")
  List<String> only = new ArrayList<>();

  @Option(
      names = "--jvm",
      paramLabel = "FLAGS",
      defaultValue = "",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      description = "flags of the measured JVMs, parted by blanks, such as \"-XX:+UseG1GC -Xmx4g\"")
  String jvmFlags;

  @Mixin VerdictOptions verdict;
  @Mixin DesignOptions design;

  @Override
  public Integer call() throws Exception {
    Study.Design usual = design.of(verdict.margin, USUAL_TRIALS);
    Study.Design measured = usual.warmedUp(MOST_WARM_UP_CALLS, usual.warmUpSeconds());
    Console console = new Console();
    String className = what;
    String places = classPath;
    if (what.endsWith(JavaSource.SUFFIX)) {
      JavaSource compiled = JavaSource.compile(what, classPath, Home.cache());
      className = compiled.className();
      places = compiled.folder() + (classPath.isEmpty() ? "" : File.pathSeparator + classPath);
    }
    Map<String, String> options = new LinkedHashMap<>();
    options.put(BenchmarkProtocol.CLASS_PATH, absolute(places));
    options.put(BenchmarkProtocol.CLASS, className);
    if (!jvmFlags.isBlank()) {
      options.put(BenchmarkProtocol.JVM_FLAGS, jvmFlags.strip());
    }
    int worst = ExitCode.FINE;
    for (Benchmark<?, ?> benchmark : chosen(absolute(places), className)) {
      Study study =
          BenchmarkRun.study(
              CommandText.of(spec), benchmark, options, DesignOptions.withoutModel(), measured);
      int code =
          new StudyConsole(console, verdict.json)
              .begin(design.runs, "bench-java-" + fileName(benchmark.name()), study);
      worst = Math.max(worst, code);
    }
    return worst;
  }

  private List<Benchmark<?, ?>> chosen(String places, String className) {
    List<Benchmark<?, ?>> all;
    try {
      all = BenchmarkClass.load(places, className);
    } catch (EngineException e) {
      throw new UsageException(e.getMessage());
    }
    List<String> names = all.stream().map(Benchmark::name).toList();
    for (String name : only) {
      if (!names.contains(name)) {
        throw new UsageException(
            "--benchmark %s: %s has %s".formatted(name, className, String.join(", ", names)));
      }
    }
    return all.stream().filter(b -> only.isEmpty() || only.contains(b.name())).toList();
  }

  /** Workers run where the coordinator does, yet a run may be resumed from elsewhere. */
  private static String absolute(String places) {
    try {
      return String.join(
          File.pathSeparator,
          BenchmarkClass.places(places).stream().map(Object::toString).toList());
    } catch (EngineException e) {
      throw new UsageException(e.getMessage());
    }
  }

  private static String fileName(String name) {
    return name.replaceAll("[^\\p{L}\\p{N}._-]+", "-");
  }
}
