package io.steelyard.lab.record;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.steelyard.lab.worker.LoadReport;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One line of {@code trials.jsonl}. Lines are only ever added; a block that was disturbed is
 * measured again as a further attempt, and both stay.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
@JsonSubTypes({
  @JsonSubTypes.Type(value = Entry.BlockStart.class, name = "block-start"),
  @JsonSubTypes.Type(value = Entry.ForkStart.class, name = "fork-start"),
  @JsonSubTypes.Type(value = Entry.Call.class, name = "call"),
  @JsonSubTypes.Type(value = Entry.ForkEnd.class, name = "fork-end"),
  @JsonSubTypes.Type(value = Entry.BlockEnd.class, name = "block-end")
})
public sealed interface Entry {
  int block();

  int attempt();

  /**
   * A block begins, or goes on after an interruption.
   *
   * @param at wall-clock time, ISO 8601
   * @param order ids of the cells in this block's random order
   * @param computeNanos the sentinel's time of its compute kernel
   * @param bandwidthNanos the sentinel's time of its bandwidth kernel
   */
  record BlockStart(
      int block, int attempt, String at, List<String> order, long computeNanos, long bandwidthNanos)
      implements Entry {}

  /**
   * A fresh process of a cell has loaded its model.
   *
   * @param fork counts the processes started for this cell in this block, from 1: more than one
   *     where the run was interrupted or an earlier process failed
   * @param build the engine's build, as its worker said: those of one label are all of one build
   * @param runtimeNanos process start until the worker said hello
   * @param loadNanos the load by the engine's own clock
   * @param loadOutsideNanos the load by the coordinator's clock
   * @param phases the load's parts in nanoseconds
   * @param readyBytes resident memory before the load
   */
  record ForkStart(
      int block,
      int attempt,
      String cell,
      int fork,
      long pid,
      boolean hosted,
      String build,
      long runtimeNanos,
      long loadNanos,
      long loadOutsideNanos,
      Map<String, Long> phases,
      long readyBytes,
      LoadReport.Settings settings)
      implements Entry {}

  /** What a timed call is for. */
  enum Role {
    /** The first token of a cold start. */
    FIRST,
    WARM_UP,
    TRIAL
  }

  /**
   * A timed call.
   *
   * @param call {@code prefill}, {@code decode} or {@code forward}
   * @param index counts calls of this role in this process, from 0
   * @param prompt which prompt it worked on
   * @param tokens tokens it accounts for
   * @param nanos by the engine's own clock
   * @param outsideNanos by the coordinator's clock
   * @param sinceStartNanos process start until the reply, by the coordinator's clock
   * @param verified whether its output was the one of the parity run
   * @param compileNanos time that the runtime compiled during the call
   * @param stolenShare share of processor time that the hypervisor took during the call
   * @param pageFaults of the process during the call
   * @param contextSwitches of the process during the call
   * @param megahertz the processors' clock when the call ended; 0 where it can't be read
   * @param counts what the call did by its own count; empty where it doesn't count
   */
  record Call(
      int block,
      int attempt,
      String cell,
      int fork,
      String call,
      Role role,
      int index,
      int prompt,
      long tokens,
      long nanos,
      long outsideNanos,
      long sinceStartNanos,
      boolean verified,
      long compileNanos,
      double stolenShare,
      long pageFaults,
      long contextSwitches,
      double megahertz,
      @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<Map<String, Long>> counts)
      implements Entry {

    /** The same call counted in another role. */
    public Call as(Role other) {
      return new Call(
          block,
          attempt,
          cell,
          fork,
          call,
          other,
          index,
          prompt,
          tokens,
          nanos,
          outsideNanos,
          sinceStartNanos,
          verified,
          compileNanos,
          stolenShare,
          pageFaults,
          contextSwitches,
          megahertz,
          counts);
    }
  }

  /**
   * A process of a cell has ended.
   *
   * @param settled whether the warm-up ended by itself rather than at its cap
   * @param peakBytes largest resident memory of the process
   * @param residentBytes resident memory after the last call
   * @param proportionalBytes proportional set size after the last call
   * @param averageBytes mean of the resident memory over the calls
   * @param parts the engine's own account in bytes
   * @param failure why the cell failed; empty where it did not
   * @param mappedBytes of the model's files, mapped and resident after the last call
   */
  record ForkEnd(
      int block,
      int attempt,
      String cell,
      int fork,
      boolean settled,
      long peakBytes,
      long residentBytes,
      long proportionalBytes,
      long averageBytes,
      Map<String, Long> parts,
      String failure,
      Optional<Long> mappedBytes)
      implements Entry {
    /** Of a process whose mappings weren't looked at. */
    public ForkEnd(
        int block,
        int attempt,
        String cell,
        int fork,
        boolean settled,
        long peakBytes,
        long residentBytes,
        long proportionalBytes,
        long averageBytes,
        Map<String, Long> parts,
        String failure) {
      this(
          block,
          attempt,
          cell,
          fork,
          settled,
          peakBytes,
          residentBytes,
          proportionalBytes,
          averageBytes,
          parts,
          failure,
          Optional.empty());
    }
  }

  /**
   * An attempt at a block has ended; a later one of the same attempt corrects its judgement, once
   * there is a median to judge by.
   *
   * @param stolenShare share of processor time that the hypervisor took during the block
   * @param disturbed why the block is to be repeated; empty where it is not
   * @param spentShare of the run's budget by now; 1 where no further block fits
   */
  record BlockEnd(
      int block, int attempt, String at, double stolenShare, String disturbed, double spentShare)
      implements Entry {}
}
