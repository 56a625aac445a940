package io.steelyard.lab.text;

import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import java.util.Arrays;
import java.util.List;

/**
 * The token ids of every timed call: the same for all labels, a different prompt for each trial of
 * a block.
 *
 * @param texts token ids of the texts: Steelyard's eight, or one of the user's
 */
public record Prompts(List<int[]> texts) {
  public Prompts {
    if (texts.stream().allMatch(ids -> ids.length == 0)) {
      throw new IllegalArgumentException("the texts have no tokens");
    }
    texts = List.copyOf(texts);
  }

  /**
   * A study's prompts: its own text, or else these.
   *
   * @param usual token ids of {@link Texts#prompts}
   */
  public static Prompts of(Study study, List<int[]> usual) {
    return new Prompts(
        study
            .shape()
            .text()
            .map(own -> List.of(own.stream().mapToInt(Integer::intValue).toArray()))
            .orElse(usual));
  }

  /** How many prompts there are. */
  public int count() {
    return texts.size();
  }

  /**
   * The ids of a workload's call: first the depth, which all prompts share so that a cache may keep
   * it, then the prompt's own text. A single text is decoded on from as it is.
   */
  public int[] ids(Workload workload, int prompt) {
    return switch (workload.kind()) {
      case START -> own(prompt, Workload.START_PROMPT);
      case PREFILL -> atDepth(workload.depth(), prompt, workload.prompt());
      case DECODE -> {
        int before = Math.max(workload.depth(), Workload.DECODE_PROMPT);
        yield texts.size() == 1
            ? own(0, before)
            : atDepth(before - Workload.DECODE_PROMPT, prompt, Workload.DECODE_PROMPT);
      }
      case FORWARD -> own(prompt, workload.prompt());
      case COMMAND, OPERATION -> new int[0];
    };
  }

  /** The sequences of a batched forward pass, each cut from another text. */
  public int[][] batch(Workload workload, int prompt) {
    int[][] ids = new int[workload.batch()][];
    Arrays.setAll(ids, i -> own(prompt + i, workload.prompt()));
    return ids;
  }

  private int[] atDepth(int depth, int prompt, int length) {
    int[] ids = Arrays.copyOf(own(0, depth), depth + length);
    System.arraycopy(own(prompt, length), 0, ids, depth, length);
    return ids;
  }

  /** Cut from the prompt's text; where that is too short the next ones follow. */
  private int[] own(int prompt, int length) {
    int[] ids = new int[length];
    int filled = 0;
    for (int text = prompt; filled < length; text++) {
      int[] source = texts.get(text % texts.size());
      int take = Math.min(source.length, length - filled);
      System.arraycopy(source, 0, ids, filled, take);
      filled += take;
    }
    return ids;
  }
}
