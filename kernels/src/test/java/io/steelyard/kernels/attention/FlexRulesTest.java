package io.steelyard.kernels.attention;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.attention.FlexRule.Coverage;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class FlexRulesTest {
  private static final Map<String, FlexRule> RULES =
      Map.of(
          "all", FlexRules.all(),
          "causal", FlexRules.causal(),
          "window", FlexRules.slidingWindow(17),
          "prefix", FlexRules.prefix(23),
          "documents", FlexRules.documents(19),
          "alibi", FlexRules.alibi(4),
          "window of documents", FlexRules.slidingWindow(9).and(FlexRules.documents(19)));

  /**
   * What a rule says of blocks must follow from what it says of pairs. It may say that some is seen
   * where a pair's two rules leave nothing, or everything.
   */
  @Test
  void shouldCoverWhatPairsSee() {
    long seed = 7;
    SplittableRandom random = new SplittableRandom(seed);
    RULES.forEach(
        (name, rule) -> {
          FlexRule asked = (batch, head, query, key) -> rule.sees(batch, head, query, key);
          for (int i = 0; i < 2000; i++) {
            int query = random.nextInt(60);
            int queryEnd = query + 1 + random.nextInt(20);
            int key = random.nextInt(60);
            int keyEnd = key + 1 + random.nextInt(20);
            Coverage said = rule.coverage(0, 1, query, queryEnd, key, keyEnd);
            Coverage pairs = asked.coverage(0, 1, query, queryEnd, key, keyEnd);
            String where =
                "%s, queries %d to %d, keys %d to %d, seed %d"
                    .formatted(name, query, queryEnd, key, keyEnd, seed);
            if (said != Coverage.SOME) {
              assertThat(said).as(where).isEqualTo(pairs);
            } else if (!name.contains("of")) {
              assertThat(pairs).as(where).isEqualTo(Coverage.SOME);
            }
          }
        });
  }
}
