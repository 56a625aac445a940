package io.steelyard.lab.benchmark;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Several ways to compute the same: a baseline, variants of it, each with its check against the
 * baseline's result, and the workloads they are given. Immutable.
 *
 * <p>An operation is called over and over with the same input, so it leaves the input as it is. It
 * returns what it computed; the input is read and the result written in a way that the compiler
 * must not reorder or leave out, so nothing that the result depends on is optimised away. That, and
 * the call through {@link Function}, takes about a nanosecond, of every way alike.
 *
 * @param <I> what a workload gives
 * @param <R> what an operation computes
 */
public final class Benchmark<I, R> {
  private static final int LONGEST_NAME = 60;

  /**
   * A way to compute the result.
   *
   * @param operation computes it
   * @param check says whether a result (second) stands for the baseline's (first)
   */
  public record Variant<I, R>(
      Function<? super I, ? extends R> operation, BiPredicate<? super R, ? super R> check) {}

  private final String name;
  private final Map<String, Variant<I, R>> variants;
  private final Map<String, Supplier<? extends I>> workloads;

  private Benchmark(
      String name,
      Map<String, Variant<I, R>> variants,
      Map<String, Supplier<? extends I>> workloads) {
    this.name = name;
    this.variants = Collections.unmodifiableMap(variants);
    this.workloads = Collections.unmodifiableMap(workloads);
  }

  /**
   * A benchmark with its baseline alone.
   *
   * @param name of the benchmark
   * @param baseline name of the way that the others are compared with
   */
  public static <I, R> Benchmark<I, R> of(
      String name, String baseline, Function<? super I, ? extends R> operation) {
    return new Benchmark<I, R>(checked("benchmark", name), Map.of(), Map.of())
        .variant(baseline, operation);
  }

  /** The same benchmark with a variant whose results equal the baseline's, arrays by elements. */
  public Benchmark<I, R> variant(String variant, Function<? super I, ? extends R> operation) {
    return variant(variant, operation, Objects::deepEquals);
  }

  /**
   * The same benchmark with one more variant.
   *
   * @param check whether a result, its second argument, stands for the baseline's, its first
   * @throws IllegalArgumentException if there is a variant of that name
   */
  public Benchmark<I, R> variant(
      String variant,
      Function<? super I, ? extends R> operation,
      BiPredicate<? super R, ? super R> check) {
    Map<String, Variant<I, R>> more = new LinkedHashMap<>(variants);
    Variant<I, R> added =
        new Variant<>(
            Objects.requireNonNull(operation, "operation"), Objects.requireNonNull(check, "check"));
    if (more.put(checked("variant", variant), added) != null) {
      throw new IllegalArgumentException(
          "benchmark '%s' has two variants '%s'".formatted(name, variant));
    }
    return new Benchmark<>(name, more, workloads);
  }

  /**
   * The same benchmark with one more workload.
   *
   * @param input makes the input, the same each time it is asked
   * @throws IllegalArgumentException if there is a workload of that name
   */
  public Benchmark<I, R> workload(String workload, Supplier<? extends I> input) {
    Map<String, Supplier<? extends I>> more = new LinkedHashMap<>(workloads);
    if (more.put(checked("workload", workload), Objects.requireNonNull(input, "input")) != null) {
      throw new IllegalArgumentException(
          "benchmark '%s' has two workloads '%s'".formatted(name, workload));
    }
    return new Benchmark<>(name, variants, more);
  }

  /**
   * A check for numbers that rounding sets apart.
   *
   * @param tolerance largest difference, as a share of the larger magnitude
   */
  public static BiPredicate<Number, Number> within(double tolerance) {
    return (expected, actual) -> {
      double a = expected.doubleValue();
      double b = actual.doubleValue();
      return Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
    };
  }

  public String name() {
    return name;
  }

  /** The ways by name, the baseline first. */
  public Map<String, Variant<I, R>> variants() {
    return variants;
  }

  /** The name of the baseline. */
  public String baseline() {
    return variants.keySet().iterator().next();
  }

  /** What makes each workload's input, by name. */
  public Map<String, Supplier<? extends I>> workloads() {
    return workloads;
  }

  /** Names stand in tables, file names and options. */
  private static String checked(String what, String name) {
    if (name.length() > LONGEST_NAME || !name.matches("[\\p{L}\\p{N}][\\p{L}\\p{N} ._+-]*")) {
      throw new IllegalArgumentException(
          "the %s's name '%s' must be letters, digits, blanks and ._+- after the first, %d at most"
              .formatted(what, name, LONGEST_NAME));
    }
    return name;
  }
}
