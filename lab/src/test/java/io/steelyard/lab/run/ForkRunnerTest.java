package io.steelyard.lab.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ForkRunnerTest {
  private static final int PROMPTS = 8;

  @Test
  void theTrialsOfABlockWorkOnDifferentPrompts() {
    for (int block = 1; block <= 50; block++) {
      Set<Integer> prompts = new HashSet<>();
      for (int trial = 0; trial < 3; trial++) {
        prompts.add(ForkRunner.trialPrompt(block, 3, trial, PROMPTS));
      }
      assertThat(prompts).hasSize(3).allMatch(prompt -> prompt >= 0 && prompt < PROMPTS);
    }
  }

  @Test
  void theBlocksUseEveryPromptEquallyOften() {
    int[] uses = new int[PROMPTS];
    for (int block = 1; block <= PROMPTS; block++) {
      for (int trial = 0; trial < 3; trial++) {
        uses[ForkRunner.trialPrompt(block, 3, trial, PROMPTS)]++;
      }
    }
    assertThat(uses).containsOnly(3);
  }

  @Test
  void noWarmUpCallSeesThePromptOfATrial() {
    for (int block = 1; block <= 20; block++) {
      for (int trials = 1; trials < PROMPTS; trials++) {
        Set<Integer> timed = new HashSet<>();
        for (int trial = 0; trial < trials; trial++) {
          timed.add(ForkRunner.trialPrompt(block, trials, trial, PROMPTS));
        }
        for (int call = 0; call < 40; call++) {
          assertThat(timed).doesNotContain(ForkRunner.warmUpPrompt(block, trials, call, PROMPTS));
        }
      }
    }
  }

  @Test
  void warmUpCallsInARowSeeDifferentPrompts() {
    for (int call = 0; call < 40; call++) {
      assertThat(ForkRunner.warmUpPrompt(1, 3, call, PROMPTS))
          .isNotEqualTo(ForkRunner.warmUpPrompt(1, 3, call + 1, PROMPTS));
    }
  }

  /** A program that asks while it runs and while it ends. */
  static final class Ending {
    private Ending() {}

    public static void main(String[] args) {
      Runtime.getRuntime()
          .addShutdownHook(new Thread(() -> System.out.println(ForkRunner.shuttingDown())));
      System.out.println(ForkRunner.shuttingDown());
    }
  }

  @Test
  void theLabKnowsWhenItIsEnding() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Ending.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(output.lines()).containsExactly("false", "true");
  }

  @Test
  void moreTrialsThanPromptsTakeThemInTurn() {
    assertThat(ForkRunner.trialPrompt(1, 10, 9, PROMPTS)).isEqualTo(1);
    assertThat(ForkRunner.warmUpPrompt(1, 10, 3, PROMPTS)).isEqualTo(3);
  }
}
