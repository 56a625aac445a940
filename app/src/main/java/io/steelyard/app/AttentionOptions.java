package io.steelyard.app;

import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tier;
import io.steelyard.kernels.attention.AttentionShape;
import io.steelyard.kernels.attention.Variants;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Which variants of attention are measured, and on what. */
final class AttentionOptions {
  private static final int MOST_HEADS = 1024;
  private static final int MOST_VALUES = 4096;
  private static final int MOST_SEQUENCES = 1 << 16;
  private static final String AUTO = "auto";

  /** Inputs and results that auto makes take one in so many of the free bytes. */
  private static final int AUTO_SHARE = 4;

  /** Element types by the field's names. */
  enum Type {
    F32(DataType.F32),
    F16(DataType.F16),
    BF16(DataType.BF16);

    private final DataType type;

    Type(DataType type) {
      this.type = type;
    }
  }

  @Option(
      names = "--variants",
      paramLabel = "LIST",
      description =
          "variants parted by commas, each with parameters after a colon:"
              + " flash,ring:ranks=8,block-sparse:pattern=adaptive,density=0.1 (default: all; the"
              + " first is the baseline, flash where it is among them)")
  String variants;

  @Option(names = "--heads", paramLabel = "N", defaultValue = "8", description = "query heads")
  int heads;

  @Option(
      names = "--kv-heads",
      paramLabel = "N",
      description = "heads of keys and values (default: as many as query heads)")
  Integer kvHeads;

  @Option(names = "--dim", paramLabel = "N", defaultValue = "64", description = "values of a head")
  int dimension;

  @Option(
      names = "--batch",
      paramLabel = "N|auto",
      defaultValue = "1",
      description =
          "sequences; auto: as many as make about 16K tokens, 8 at most, and no more than a quarter"
              + " of the free memory holds")
  String batch;

  @Option(
      names = "--dtype",
      paramLabel = "TYPE",
      defaultValue = "F32",
      description = "of queries, keys, values and results: f32, f16, bf16")
  Type type;

  @Option(
      names = "--tier",
      paramLabel = "TIER",
      description = "kernels (default: the fastest that runs here)")
  Tier tier;

  @Option(
      names = "--causal",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      negatable = true,
      defaultValue = "true",
      fallbackValue = "true",
      description = "whether queries see no position after their own (default: they don't)")
  boolean causal;

  @Mixin ThreadsOption threads;

  /** The problem, all of it checked. */
  AttentionProblem problem() {
    StudyOptions.between("--heads", heads, 1, MOST_HEADS);
    StudyOptions.between("--dim", dimension, 1, MOST_VALUES);
    int keyHeads = kvHeads == null ? heads : kvHeads;
    StudyOptions.between("--kv-heads", keyHeads, 1, MOST_HEADS);
    Tier chosen = tier == null ? OwnModel.usualTier() : tier;
    OwnModel.requireHere(chosen);
    AttentionProblem problem =
        new AttentionProblem(
            heads,
            keyHeads,
            dimension,
            batch.equals(AUTO) ? AttentionProblem.AUTO : sequences(),
            autoBytes(),
            causal,
            type.type,
            chosen,
            threads.count(),
            true,
            true);
    asked(() -> problem.shape(1));
    return problem;
  }

  /** A power of two, so that a run that is gone on with finds the same most times. */
  private long autoBytes() {
    return batch.equals(AUTO) ? Long.highestOneBit(AttentionStudy.freeMemory() / AUTO_SHARE) : 0;
  }

  private int sequences() {
    try {
      int count = Integer.parseInt(batch);
      StudyOptions.between("--batch", count, 1, MOST_SEQUENCES);
      return count;
    } catch (NumberFormatException e) {
      throw new UsageException("--batch %s: give a number, or auto".formatted(batch));
    }
  }

  /** The variants' spellings, the baseline first. */
  List<String> spellings() {
    List<String> spellings = new ArrayList<>();
    if (variants == null) {
      spellings.addAll(Variants.descriptions().keySet());
    } else {
      spellings.addAll(AttentionSpellings.of(variants));
    }
    return spellings.contains("flash")
        ? Stream.concat(Stream.of("flash"), spellings.stream().filter(s -> !s.equals("flash")))
            .toList()
        : spellings;
  }

  /** Lengths as they are written, in order. */
  static List<Integer> lengths(List<String> names) {
    return names.stream()
        .map(name -> asked(() -> AttentionProblem.length(name)))
        .distinct()
        .sorted()
        .toList();
  }

  /** What the kernels refuse is the command line's fault. */
  static <T> T asked(Supplier<T> question) {
    try {
      return question.get();
    } catch (IllegalArgumentException e) {
      throw new UsageException(e.getMessage());
    }
  }

  /** The shape at a length. */
  static AttentionShape shape(AttentionProblem problem, int length) {
    return asked(() -> problem.shape(length));
  }
}
