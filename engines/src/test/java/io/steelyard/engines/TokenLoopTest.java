package io.steelyard.engines;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.lab.worker.DecodeReport;
import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.TokenListener;
import io.steelyard.models.speculation.Speculation;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TokenLoopTest {
  private static final int VOCABULARY = 50;

  /** Logits whose most likely token is the one given, by a lead of two. */
  private static MemorySegment logits(int id) {
    float[] values = new float[VOCABULARY];
    values[id] = 2;
    return MemorySegment.ofArray(values);
  }

  private static TokenLoop loop(int tokens, List<Integer> stop, TokenListener listener)
      throws EngineException {
    return new TokenLoop(
        new DecodeRequest(
            new int[] {3, 4}, tokens, DecodeRequest.Sampling.GREEDY, true, true, stop),
        listener);
  }

  /** A pass over a model that counts, with a draft of so many right tokens and a wrong one. */
  private static TokenLoop.Pass counting(int right, List<Integer> inputs) {
    return (id, most, verifier) -> {
      inputs.add(id);
      int next = id + 1;
      for (int i = 0; i < Math.min(right, most - 1); i++, next++) {
        if (!verifier.accepts(logits(next), next)) {
          return;
        }
      }
      assertThat(verifier.accepts(logits(next), Speculation.NONE)).isFalse();
    };
  }

  @Test
  void aStepGivesOneTokenAndTakesTheLastOne() throws EngineException {
    List<Integer> inputs = new ArrayList<>();
    List<Integer> streamed = new ArrayList<>();

    DecodeReport report =
        loop(4, List.of(), streamed::add)
            .run(
                id -> {
                  inputs.add(id);
                  return logits(id + 1);
                });

    assertThat(inputs).containsExactly(4, 5, 6, 7);
    assertThat(report.ids()).containsExactly(5, 6, 7, 8);
    assertThat(streamed).containsExactly(5, 6, 7, 8);
    assertThat(report.margins()).containsExactly(2, 2, 2, 2);
    assertThat(report.nanos()).hasSize(4).isSorted();
  }

  @Test
  void tokensOfOnePassArriveTogether() throws EngineException {
    List<Integer> inputs = new ArrayList<>();
    List<Integer> streamed = new ArrayList<>();

    DecodeReport report = loop(7, List.of(), streamed::add).speculate(counting(2, inputs));

    assertThat(inputs).containsExactly(4, 7, 10);
    assertThat(report.ids()).containsExactly(5, 6, 7, 8, 9, 10, 11);
    assertThat(streamed).containsExactly(5, 6, 7, 8, 9, 10, 11);
    assertThat(report.margins()).hasSize(7);
    long[] nanos = report.nanos();
    assertThat(nanos).isSorted();
    assertThat(nanos[0]).isEqualTo(nanos[1]).isEqualTo(nanos[2]);
    assertThat(nanos[3]).isEqualTo(nanos[4]).isEqualTo(nanos[5]);
  }

  @Test
  void aStopTokenInsideADraftEndsTheGeneration() throws EngineException {
    List<Integer> streamed = new ArrayList<>();

    DecodeReport report =
        loop(20, List.of(9), streamed::add).speculate(counting(3, new ArrayList<>()));

    assertThat(report.ids()).containsExactly(5, 6, 7, 8, 9);
    assertThat(streamed).containsExactly(5, 6, 7, 8, 9);
    assertThat(report.nanos()).hasSize(5);
    assertThat(report.margins()).hasSize(5);
  }

  @Test
  void aDraftThatGoesOnPastTheLengthAskedForIsCut() throws EngineException {
    // This pass doesn't look at how many may be chosen.
    TokenLoop.Pass bold =
        (id, most, verifier) -> {
          int next = id + 1;
          while (verifier.accepts(logits(next), next)) {
            next++;
          }
        };

    DecodeReport report = loop(6, List.of(), TokenListener.NONE).speculate(bold);

    assertThat(report.ids()).containsExactly(5, 6, 7, 8, 9, 10);
  }

  @Test
  void logitsThatAreNoNumbersAreRefused() throws EngineException {
    float[] none = new float[VOCABULARY];
    java.util.Arrays.fill(none, Float.NaN);
    TokenLoop loop = loop(3, List.of(), TokenListener.NONE);

    assertThatThrownBy(() -> loop.run(id -> MemorySegment.ofArray(none)))
        .isInstanceOf(EngineException.class)
        .hasMessageContaining("no numbers");
  }
}
