package io.steelyard.lab.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.steelyard.lab.TestData;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PromptsTest {
  /** Eight texts of 100 tokens; token 305 is the sixth of the fourth text. */
  private static final Prompts PROMPTS = new Prompts(texts(8, 100));

  private static List<int[]> texts(int count, int length) {
    List<int[]> texts = new ArrayList<>();
    for (int text = 0; text < count; text++) {
      texts.add(IntStream.range(100 * text, 100 * text + length).toArray());
    }
    return texts;
  }

  private static int[] range(int from, int to) {
    return IntStream.range(from, to).toArray();
  }

  @Test
  void aPrefillsPromptIsCutFromItsOwnText() {
    assertThat(PROMPTS.count()).isEqualTo(8);
    assertThat(PROMPTS.ids(Workload.prefill(40, 0), 3)).isEqualTo(range(300, 340));
  }

  @Test
  void everyPromptStartsWithAnotherToken() {
    for (Workload workload :
        List.of(
            Workload.prefill(512, 0),
            Workload.decode(64, 0),
            Workload.start(512, 64, 0),
            Workload.forward(1, 128))) {
      assertThat(IntStream.range(0, 8).map(prompt -> PROMPTS.ids(workload, prompt)[0]).distinct())
          .hasSize(8);
    }
  }

  @Test
  void theNextTextsFollowWhereOneIsTooShortAndTheFirstFollowsTheLast() {
    int[] ids = PROMPTS.ids(Workload.prefill(250, 0), 7);

    assertThat(ids).hasSize(250);
    assertThat(Arrays.copyOfRange(ids, 0, 100)).isEqualTo(range(700, 800));
    assertThat(Arrays.copyOfRange(ids, 100, 200)).isEqualTo(range(0, 100));
    assertThat(Arrays.copyOfRange(ids, 200, 250)).isEqualTo(range(100, 150));
  }

  @Test
  void aPromptMayBeLongerThanAllTextsTogether() {
    int[] ids = PROMPTS.ids(Workload.prefill(2_000, 0), 1);

    assertThat(ids).hasSize(2_000);
    assertThat(ids[800]).isEqualTo(100);
  }

  @Test
  void emptyTextsAreSkipped() {
    Prompts prompts = new Prompts(List.of(new int[0], new int[] {1, 2}, new int[0]));

    assertThat(prompts.ids(Workload.prefill(5, 0), 2)).containsExactly(1, 2, 1, 2, 1);
  }

  @Test
  void textsWithoutTokensAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Prompts(List.of(new int[0], new int[0])))
        .withMessage("the texts have no tokens");
    assertThatIllegalArgumentException().isThrownBy(() -> new Prompts(List.of()));
  }

  @Test
  void theDepthIsTheSameForEveryPromptAndComesFirst() {
    Workload workload = Workload.prefill(20, 150);
    for (int prompt = 0; prompt < 8; prompt++) {
      int[] ids = PROMPTS.ids(workload, prompt);

      assertThat(ids).hasSize(170);
      assertThat(Arrays.copyOf(ids, 150)).isEqualTo(range(0, 150));
      assertThat(Arrays.copyOfRange(ids, 150, 170))
          .isEqualTo(range(100 * prompt, 100 * prompt + 20));
    }
  }

  @Test
  void aDecodeGoesOnFromItsDepthWhoseEndIsThePromptsOwn() {
    assertThat(PROMPTS.ids(Workload.decode(64, 0), 2)).isEqualTo(range(200, 216));
    assertThat(PROMPTS.ids(Workload.decode(64, 10), 2)).isEqualTo(range(200, 216));

    int[] deep = PROMPTS.ids(Workload.decode(64, 50), 2);

    assertThat(deep).hasSize(50);
    assertThat(Arrays.copyOf(deep, 34)).isEqualTo(range(0, 34));
    assertThat(Arrays.copyOfRange(deep, 34, 50)).isEqualTo(range(200, 216));
  }

  @Test
  void aTextOfTheUsersIsThePromptOfEveryCall() {
    Study study = TestData.study(List.of("prefill", "decode"), "one");
    List<Integer> text = IntStream.range(1_000, 1_040).boxed().toList();
    Study onText =
        study.toBuilder().shape(new Study.Shape(40, 64, 0, 1, Optional.of(text))).build();
    Prompts own = Prompts.of(onText, texts(8, 100));

    assertThat(own.count()).isEqualTo(1);
    assertThat(onText.workloads()).extracting(Workload::name).containsExactly("pp40", "tg64@d40");
    for (Workload workload : onText.workloads()) {
      assertThat(own.ids(workload, 0)).as(workload.name()).isEqualTo(range(1_000, 1_040));
    }
    assertThat(Prompts.of(study, texts(8, 100)).count()).isEqualTo(8);
  }

  @Test
  void aColdStartsPromptIsShort() {
    assertThat(PROMPTS.ids(Workload.start(512, 64, 4_096), 1)).isEqualTo(range(100, 132));
  }

  @Test
  void theSequencesOfABatchAreCutFromDifferentTexts() {
    int[][] batch = PROMPTS.batch(Workload.forward(3, 10), 7);

    assertThat(batch).isDeepEqualTo(new int[][] {range(700, 710), range(0, 10), range(100, 110)});
  }

  @Test
  void noPromptIsLongerThanItsWorkloadsContext() {
    for (int depth : new int[] {0, 1, 16, 17, 300}) {
      for (Workload workload :
          List.of(
              Workload.prefill(40, depth),
              Workload.decode(7, depth),
              Workload.start(8, 4, depth))) {
        assertThat(PROMPTS.ids(workload, 5).length + workload.generate())
            .as("%s at depth %s", workload.kind(), depth)
            .isLessThanOrEqualTo(
                workload.kind() == Workload.Kind.START
                    ? workload.context() + workload.generate()
                    : workload.context());
      }
    }
  }
}
