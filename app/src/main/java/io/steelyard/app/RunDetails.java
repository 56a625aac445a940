package io.steelyard.app;

import io.steelyard.lab.metric.ColdStart;
import io.steelyard.lab.metric.Metric;
import io.steelyard.lab.metric.PeakMemory;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.terminal.Format;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * What a run's figures consist of: the parts of a cold start and of the memory, both what counts
 * and the whole, and how far the two clocks are apart. What the record lacks is left out.
 */
final class RunDetails {
  private static final String NONE = "–";

  private final Study study;
  private final Blocks blocks;

  private RunDetails(Study study, Blocks blocks) {
    this.study = study;
    this.blocks = blocks;
  }

  static List<DetailTable> of(Study study, Blocks blocks) {
    RunDetails details = new RunDetails(study, blocks);
    List<DetailTable> tables = new ArrayList<>();
    for (Metric metric : Metric.of(study)) {
      switch (metric) {
        case ColdStart start -> details.coldStart(start.workload()).ifPresent(tables::add);
        case PeakMemory memory when !MemoryView.isOf(study) ->
            details.memory(memory.workload()).ifPresent(tables::add);
        default -> {}
      }
    }
    details.clocks().ifPresent(tables::add);
    return tables;
  }

  private Optional<DetailTable> coldStart(Workload workload) {
    Map<String, List<ForkRecord>> forks = forks(workload);
    forks.values().forEach(own -> own.removeIf(fork -> fork.calls(Role.FIRST).isEmpty()));
    forks.values().removeIf(List::isEmpty);
    if (forks.isEmpty()) {
      return Optional.empty();
    }
    // Engines divide their loads differently; who tells most gives the order.
    Set<String> parts = new LinkedHashSet<>();
    forks.values().stream()
        .map(own -> ColdStart.parts(own.getFirst()).keySet())
        .sorted(Comparator.comparingInt((Set<String> own) -> own.size()).reversed())
        .forEach(parts::addAll);
    for (String last : List.of("prefill", ColdStart.AROUND)) {
      parts.remove(last);
      parts.add(last);
    }
    List<List<String>> rows = new ArrayList<>();
    for (String part : parts) {
      boolean engines = !part.equals("runtime") && !part.equals(ColdStart.AROUND);
      rows.add(
          row(
              part,
              forks.values(),
              own ->
                  cell(
                      mean(own, fork -> ColdStart.parts(fork).getOrDefault(part, Double.NaN)) / 1e6,
                      engines || !hosted(own))));
    }
    rows.add(
        row("counted", forks.values(), own -> cell(mean(own, ColdStart::judgedNanos) / 1e6, true)));
    rows.add(
        row(
            "all of it",
            forks.values(),
            own -> cell(mean(own, ColdStart::wholeNanos) / 1e6, true)));
    return Optional.of(
        new DetailTable(
            "Cold start, part by part",
            headers("ms", forks.keySet()),
            rows,
            "Means over processes. Runtime: process start until the worker is ready; the phases of"
                + " the load and the prefill of "
                + Workload.START_PROMPT
                + " tokens by the engine's own clock; around the calls: what only the lab's clock"
                + " saw of them."
                + parentheses(forks)));
  }

  private Optional<DetailTable> memory(Workload workload) {
    Map<String, List<ForkRecord>> forks = forks(workload);
    if (forks.isEmpty()) {
      return Optional.empty();
    }
    Set<String> parts =
        new LinkedHashSet<>(List.of("weights", "repacked", "kv", "activations", "heap"));
    forks.values().forEach(own -> parts.addAll(own.getFirst().end().parts().keySet()));
    parts.removeIf(
        part ->
            forks.values().stream()
                .noneMatch(own -> own.getFirst().end().parts().containsKey(part)));
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        row(
            "runtime, before the load",
            forks.values(),
            own -> cell(mean(own, fork -> fork.start().readyBytes()) / 1e6, !hosted(own))));
    for (String part : parts) {
      rows.add(
          row(part, forks.values(), own -> cell(mean(own, fork -> part(fork, part)) / 1e6, true)));
    }
    rows.add(
        row(
            "not accounted for",
            forks.values(),
            own -> cell(mean(own, MemoryView::unexplained) / 1e6, true)));
    rows.add(
        row(
            "peak, counted",
            forks.values(),
            own -> cell(mean(own, PeakMemory::judgedBytes) / 1e6, true)));
    rows.add(
        row(
            "peak, all of it",
            forks.values(),
            own -> cell(mean(own, fork -> fork.end().peakBytes()) / 1e6, true)));
    rows.add(
        row(
            "average, all of it",
            forks.values(),
            own -> cell(mean(own, fork -> known(fork.end().averageBytes())) / 1e6, true)));
    rows.add(
        row(
            "proportional share at the end",
            forks.values(),
            own -> cell(mean(own, fork -> known(fork.end().proportionalBytes())) / 1e6, true)));
    return Optional.of(
        new DetailTable(
            "Memory, part by part",
            headers("MB", forks.keySet()),
            rows,
            "Means over processes of the resident set. Parts by the engine's own account; not"
                + " accounted for: the peak without the runtime and these parts, of mapped weights"
                + " what is resident. The average is over readings after each call."
                + parentheses(forks)));
  }

  private Optional<DetailTable> clocks() {
    Map<String, Map<String, String>> gaps = new LinkedHashMap<>();
    for (Workload workload : study.workloads()) {
      if (workload.kind() == Workload.Kind.COMMAND) {
        continue; // it has but one clock
      }
      String from = workload.isFromDisk() ? " from disk" : "";
      forks(workload)
          .forEach(
              (label, own) -> {
                if (workload.kind() == Workload.Kind.START) {
                  gap(
                      gaps,
                      "load" + from,
                      label,
                      mean(own, fork -> fork.start().loadNanos()),
                      mean(own, fork -> fork.start().loadOutsideNanos()));
                }
                String name =
                    workload.kind() == Workload.Kind.START ? "first token" + from : workload.name();
                Role role = workload.kind() == Workload.Kind.START ? Role.FIRST : Role.TRIAL;
                List<Entry.Call> calls =
                    own.stream().flatMap(fork -> fork.calls(role).stream()).toList();
                gap(
                    gaps,
                    name,
                    label,
                    calls.stream().mapToLong(Entry.Call::nanos).average().orElse(Double.NaN),
                    calls.stream()
                        .mapToLong(Entry.Call::outsideNanos)
                        .average()
                        .orElse(Double.NaN));
              });
    }
    if (gaps.isEmpty()) {
      return Optional.empty();
    }
    Set<String> labels = new LinkedHashSet<>(study.engines().keySet());
    labels.removeIf(label -> gaps.values().stream().noneMatch(row -> row.containsKey(label)));
    List<List<String>> rows = new ArrayList<>();
    gaps.forEach(
        (name, cells) -> {
          List<String> row = new ArrayList<>(List.of(name));
          labels.forEach(label -> row.add(cells.getOrDefault(label, NONE)));
          rows.add(row);
        });
    return Optional.of(
        new DetailTable(
            "The two clocks",
            headers("call", labels),
            rows,
            "Mean time by which the lab's clock, outside the process, saw more of a call than the"
                + " engine's own, and as a share of what it saw: the protocol, the lab's code in the"
                + " worker, the untimed prompt before a decode, and anything that an engine would"
                + " leave out."));
  }

  private static void gap(
      Map<String, Map<String, String>> gaps,
      String name,
      String label,
      double inside,
      double outside) {
    if (outside > 0 && Double.isFinite(inside)) {
      gaps.computeIfAbsent(name, n -> new LinkedHashMap<>())
          .put(
              label,
              "%s ms (%s)"
                  .formatted(
                      Format.significant((outside - inside) / 1e6, 2),
                      Format.percent((outside - inside) / outside, 1)));
    }
  }

  /** The sound processes of each label that has any, in the order of the study. */
  private Map<String, List<ForkRecord>> forks(Workload workload) {
    Map<String, List<ForkRecord>> forks = new LinkedHashMap<>();
    for (String label : study.engines().keySet()) {
      List<ForkRecord> own = new ArrayList<>(blocks.sound(new Cell(label, workload)).values());
      if (!own.isEmpty()) {
        forks.put(label, own);
      }
    }
    return forks;
  }

  private static List<String> headers(String first, Collection<String> labels) {
    List<String> headers = new ArrayList<>(List.of(first));
    headers.addAll(labels);
    return headers;
  }

  private static List<String> row(
      String name, Collection<List<ForkRecord>> forks, Function<List<ForkRecord>, String> cell) {
    List<String> row = new ArrayList<>(List.of(name));
    forks.forEach(own -> row.add(cell.apply(own)));
    return row;
  }

  private static String cell(double value, boolean counted) {
    if (!Double.isFinite(value)) {
      return NONE;
    }
    String text = Format.significant(value, Math.abs(value) >= 1000 ? 4 : 3);
    return counted ? text : "(" + text + ")";
  }

  private static boolean hosted(List<ForkRecord> forks) {
    return forks.getFirst().start().hosted();
  }

  private static String parentheses(Map<String, List<ForkRecord>> forks) {
    return forks.values().stream().anyMatch(RunDetails::hosted)
        ? " In parentheses: not counted, since it belongs to a runtime that this engine's users"
            + " don't need."
        : "";
  }

  private static double part(ForkRecord fork, String part) {
    Long bytes = fork.end().parts().get(part);
    return bytes == null ? Double.NaN : bytes;
  }

  /** What could not be read is recorded as 0. */
  static double known(long bytes) {
    return bytes == 0 ? Double.NaN : bytes;
  }

  private static double mean(List<ForkRecord> forks, ToDoubleFunction<ForkRecord> value) {
    return forks.stream().mapToDouble(value).average().orElse(Double.NaN);
  }
}
