package io.steelyard.reports;

import io.steelyard.lab.record.Perplexity;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.record.Summary.Cell;
import io.steelyard.lab.record.Summary.Comparison;
import io.steelyard.lab.record.Summary.FairnessLine;
import io.steelyard.lab.record.Summary.Parity;
import io.steelyard.reports.Series.Block;
import io.steelyard.stats.Interval;
import io.steelyard.stats.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.DoubleStream;

/** Runs made up for tests, seeded: one that looks like a real comparison, and awkward ones. */
final class SampleRun {

  static final String MODEL = "SmolLM2-135M-Instruct";
  static final String PRECISION = "Q4_1";

  private SampleRun() {}

  /** Two engines and five metrics, as {@code compare} measures them by default. */
  static ReportInput typical() {
    Random random = new Random(17);
    List<Cell> cells =
        List.of(
            cell("steelyard", "pp512", "tok/s", "higher", 350.3, 5.1, "steady", 0),
            cell("llamacpp", "pp512", "tok/s", "higher", 1014.2, 12.4, "steady", 1),
            cell("steelyard", "tg64", "tok/s", "higher", 88.1, 0.62, "steady", 0),
            cell("llamacpp", "tg64", "tok/s", "higher", 87.6, 0.58, "steady", 1),
            cell("steelyard", "coldstart", "ms", "lower", 1412, 38, "steady", 0),
            cell("llamacpp", "coldstart", "ms", "lower", 231, 7.2, "steady", 0),
            cell("steelyard", "load", "ms", "lower", 212, 14, "no steady state", 0),
            cell("llamacpp", "load", "ms", "lower", 96.4, 3.1, "steady", 0),
            cell("steelyard", "memory", "MB", "lower", 402.5, 3.9, "steady", 0),
            cell("llamacpp", "memory", "MB", "lower", 288.2, 0.4, "steady", 0));
    List<Comparison> comparisons =
        List.of(
            comparison("pp512", "steelyard", 0.3454, 0.3391, 0.3518, "slower", ""),
            comparison(
                "tg64",
                "steelyard",
                1.0057,
                0.9912,
                1.0204,
                "inconclusive",
                "7 more forks would settle it"),
            comparison("coldstart", "steelyard", 0.1636, 0.1561, 0.1714, "slower", ""),
            comparison("load", "steelyard", 0.4547, 0.4189, 0.4936, "slower", ""),
            comparison("memory", "steelyard", 0.716, 0.7079, 0.7242, "slower", ""));
    List<Series> series = new ArrayList<>();
    for (Cell cell : cells) {
      boolean single = cell.unit().equals("ms") || cell.unit().equals("MB");
      series.add(
          series(
              random,
              cell.label(),
              cell.metric(),
              cell.unit(),
              cell.mean(),
              0.012,
              5,
              single ? 0 : 4,
              single ? 1 : 3));
    }
    Summary summary =
        new Summary(
            Summary.SCHEMA,
            "2026-02-03T10-11-12-smollm2",
            MODEL,
            "real",
            cells,
            comparisons,
            parity(),
            fairness());
    return input(summary, series);
  }

  /** As {@link #typical}, on a machine whose limits were measured. */
  static ReportInput withShares() {
    ReportInput run = typical();
    Summary s = run.summary();
    Map<String, Double> shares =
        Map.of(
            "steelyard/pp512",
            0.221,
            "llamacpp/pp512",
            0.64,
            "steelyard/tg64",
            0.8349,
            "llamacpp/tg64",
            1.04);
    List<Cell> cells =
        s.cells().stream()
            .map(cell -> with(cell, shares.get(cell.label() + "/" + cell.metric())))
            .toList();
    return input(
        new Summary(
            s.schema(),
            s.run(),
            s.model(),
            s.weights(),
            cells,
            s.comparisons(),
            s.parity(),
            s.fairness()),
        run.series());
  }

  private static Cell with(Cell c, Double roofline) {
    return new Cell(
        c.label(),
        c.engine(),
        c.model(),
        c.precision(),
        c.metric(),
        c.unit(),
        c.better(),
        c.mean(),
        c.median(),
        c.sd(),
        c.min(),
        c.max(),
        c.low(),
        c.high(),
        c.forks(),
        c.trials(),
        c.state(),
        c.disturbed(),
        roofline);
  }

  /** As {@link #typical}, of a model whose weights were drawn at random. */
  static Summary withRandomWeights() {
    Summary s = typical().summary();
    return new Summary(
        s.schema(),
        s.run(),
        "synth:llama-135m",
        "random",
        s.cells(),
        s.comparisons(),
        s.parity(),
        s.fairness());
  }

  /**
   * Every awkward thing at once: long and wide labels, a failed cell, missing intervals, extreme
   * ratios.
   */
  static ReportInput awkward() {
    String longLabel = "steelyard:tier=vector,threads=16,kv=f16,flash=on,label-of-60-ch";
    String wideLabel = "引擎:量化=四位";
    List<Cell> cells =
        List.of(
            cell("llamacpp", "pp512@d4096", "tok/s", "higher", 12345.6, 31.0, "steady", 2),
            cell(longLabel, "pp512@d4096", "tok/s", "higher", 612.25, 151.0, "no steady state", 0),
            failed(wideLabel, "pp512@d4096"),
            cell("llamacpp", "tg64@d131072", "tok/s", "higher", 0.0123, 0.0004, "steady", 0),
            single(longLabel, "tg64@d131072", "tok/s", 0.371),
            cell(wideLabel, "tg64@d131072", "tok/s", "higher", 0.0122, 0.0004, "steady", 0),
            cell("llamacpp", "load", "ms", "lower", 0.52, 0.01, "steady", 0),
            cell(longLabel, "load", "ms", "lower", 15600, 120, "steady", 0));
    List<Comparison> comparisons =
        List.of(
            comparison("pp512@d4096", longLabel, 0.0496, 0.0371, 0.0662, "slower", ""),
            comparison(
                "pp512@d4096",
                wideLabel,
                null,
                null,
                null,
                "not comparable",
                "the worker died: it was killed after 30 s without an answer"),
            comparison(
                "tg64@d131072", longLabel, 30.16, null, null, "inconclusive", "need ≥ 2 forks"),
            comparison("tg64@d131072", wideLabel, 0.992, 0.05, 19.7, "inconclusive", ""),
            comparison(
                "load",
                longLabel,
                0.0000333,
                0.0000329,
                0.0000337,
                "not comparable",
                "weights differ: b179c9523d0e and 77aa019bd1f0"));
    Random random = new Random(4);
    List<Series> series =
        List.of(
            series(random, "llamacpp", "pp512@d4096", "tok/s", 12345, 0.003, 1, 3, 3),
            series(random, longLabel, "pp512@d4096", "tok/s", 612, 0.2, 1, 12, 3));
    return input(
        new Summary(
            Summary.SCHEMA, "awkward", MODEL, "real", cells, comparisons, parity(), fairness()),
        series);
  }

  /** Many cells: so many metrics of so many labels over so many blocks. */
  static ReportInput grid(int metrics, int labels, int blocks) {
    Random random = new Random(metrics * 31L + labels);
    List<Cell> cells = new ArrayList<>();
    List<Comparison> comparisons = new ArrayList<>();
    List<Series> series = new ArrayList<>();
    String[] names = {
      "pp512", "pp512@d4096", "tg64", "tg64@d4096", "coldstart", "load", "memory", "forward"
    };
    for (int m = 0; m < metrics; m++) {
      String unit = m < 4 ? "tok/s" : names[m].equals("memory") ? "MB" : "ms";
      for (int l = 0; l < labels; l++) {
        String label = l == 0 ? "llamacpp" : "steelyard:threads=" + l;
        double ratio = l == 0 ? 1 : Math.exp(0.6 * random.nextGaussian());
        double mean = 100 * (m + 1) * (unit.equals("tok/s") ? ratio : 1 / ratio);
        cells.add(
            cell(label, names[m], unit, m < 4 ? "higher" : "lower", mean, mean / 80, "steady", 0));
        if (l > 0) {
          boolean close = (m + l) % 4 == 0;
          double centre = close ? 1.002 : ratio;
          double half = close ? 0.012 : (m + l) % 4 == 1 ? 0.15 : 0.02;
          Interval interval = new Interval(centre, centre * (1 - half), centre * (1 + half), 0.95);
          comparisons.add(
              comparison(
                  names[m],
                  label,
                  centre,
                  interval.low(),
                  interval.high(),
                  Verdict.of(interval, 0.02).label(),
                  ""));
        }
        series.add(series(random, label, names[m], unit, mean, 0.015, blocks, 4, 3));
      }
    }
    return input(
        new Summary(
            Summary.SCHEMA, "grid", MODEL, "real", cells, comparisons, List.of(), List.of()),
        series);
  }

  static ReportInput input(Summary summary, List<Series> series) {
    Map<String, Object> machine = new LinkedHashMap<>();
    machine.put("cpu", "Example CPU @ 2.0 GHz");
    machine.put("cores", 2);
    machine.put("flags", List.of("avx2", "avx512f", "amx_int8"));
    Map<String, Object> environment = new LinkedHashMap<>();
    environment.put("machine", machine);
    environment.put("java", "25.0.1+8");
    environment.put("seed", 42);
    Map<String, String> formulas = new LinkedHashMap<>();
    formulas.put("pp512", "512 prompt tokens / time of processing them at depth 0");
    formulas.put("tg64", "64 tokens / time of generating them one by one, sampling included");
    return new ReportInput(
        summary,
        "./steelyard compare --model SmolLM2-135M-Instruct --seed 42",
        environment,
        series,
        0.02,
        formulas,
        "Q4_1, Example CPU @ 2.0 GHz, 2 threads",
        "Of limit: of what this example allows.",
        List.of(
            new DetailTable(
                "Cold start, part by part",
                List.of("ms", "steelyard", "llamacpp"),
                List.of(
                    List.of("runtime", "194", "(319)"),
                    List.of("prefill", "1,416", "96.0"),
                    List.of("counted", "1,772", "299")),
                "Means over processes. In parentheses: not counted.")),
        List.of("Fork means of load look bimodal: its interval is optimistic."),
        List.of());
  }

  static Cell cell(
      String label,
      String metric,
      String unit,
      String better,
      double mean,
      double half,
      String state,
      int disturbed) {
    return new Cell(
        label,
        label.split(":", 2)[0],
        MODEL,
        PRECISION,
        metric,
        unit,
        better,
        mean,
        mean,
        half / 1.2,
        mean - 2 * half,
        mean + 2 * half,
        mean - half,
        mean + half,
        5,
        15,
        state,
        disturbed,
        null);
  }

  private static Cell failed(String label, String metric) {
    return new Cell(
        label, label, MODEL, PRECISION, metric, "tok/s", "higher", null, null, null, null, null,
        null, null, 0, 0, "failed", 0, null);
  }

  private static Cell single(String label, String metric, String unit, double mean) {
    return new Cell(
        label, label, MODEL, PRECISION, metric, unit, "higher", mean, mean, null, mean, mean, null,
        null, 1, 3, "steady", 0, null);
  }

  static Comparison comparison(
      String metric,
      String subject,
      Double ratio,
      Double low,
      Double high,
      String verdict,
      String note) {
    return new Comparison(
        metric, subject, "llamacpp", MODEL, PRECISION, ratio, low, high, verdict, 5, note);
  }

  private static List<Parity> parity() {
    return List.of(
        new Parity(
            "steelyard",
            MODEL,
            PRECISION,
            true,
            1.12e-6,
            9.4e-6,
            1.0,
            0.0021,
            Optional.of(new Perplexity(14.2, 0.99998, 2e-5)),
            1.12e-6,
            true,
            ""),
        new Parity(
            "llamacpp",
            MODEL,
            PRECISION,
            true,
            2.31e-3,
            0.0193,
            0.9844,
            0.731,
            Optional.of(new Perplexity(14.25, 1.0034, 0.0011)),
            2.31e-3,
            true,
            ""),
        new Parity(
            "broken",
            MODEL,
            PRECISION,
            false,
            null,
            null,
            null,
            null,
            Optional.empty(),
            null,
            false,
            "token ids differ at text 3, position 17: 198 against 216"));
  }

  private static List<FairnessLine> fairness() {
    String checksum = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";
    return List.of(
        line("weights", checksum, checksum, "equal"),
        line("token ids", "8 prompts, 4,096 tokens", "8 prompts, 4,096 tokens", "equal"),
        line("KV cache", "f16", "f16", "equal"),
        line("activations", "f32", "q8_1 a block of 32", "by design"),
        line("threads", "2 (cores 0, 1)", "2 (cores 0, 1)", "equal"),
        line("flash attention", "on", "off", "different"));
  }

  private static FairnessLine line(String line, String steelyard, String llamacpp, String state) {
    Map<String, String> values = new LinkedHashMap<>();
    values.put("steelyard", steelyard);
    values.put("llamacpp", llamacpp);
    return new FairnessLine(line, values, state);
  }

  static Series series(
      Random random,
      String label,
      String metric,
      String unit,
      double mean,
      double spread,
      int blocks,
      int warmUps,
      int trials) {
    List<Block> all = new ArrayList<>();
    for (int b = 0; b < blocks; b++) {
      boolean disturbed = blocks > 2 && b == blocks / 2;
      double fork = mean * (1 + spread / 2 * random.nextGaussian()) * (disturbed ? 0.93 : 1);
      List<Double> warmUp = new ArrayList<>();
      for (int i = 0; i < warmUps; i++) {
        boolean jit = label.startsWith("steelyard");
        double cold = jit ? 1 - 0.6 * Math.exp(-1.3 * i) : 1 - 0.03 * Math.exp(-i);
        warmUp.add(fork * cold * (1 + spread / 2 * random.nextGaussian()));
      }
      List<Double> timed =
          DoubleStream.generate(() -> fork * (1 + spread / 2 * random.nextGaussian()))
              .limit(trials)
              .boxed()
              .toList();
      all.add(new Block(b + 1, disturbed, warmUp, timed));
    }
    return new Series(label, metric, unit, all);
  }
}
