package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.ScoreFunction;
import io.steelyard.kernels.attention.FlexRule.Coverage;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Attention by a rule. Blocks of which nothing is seen are left out; in those of which some is seen
 * each score is asked for.
 *
 * @param rule of inputs of a shape
 */
record Flex(Function<AttentionShape, FlexRule> rule) implements Variant {
  private static final int BLOCK = 128;
  private static final int MOST = 1 << 30;

  /** The rules by name. */
  private enum Named {
    CAUSAL(""),
    SLIDING_WINDOW("window"),
    ALIBI(""),
    SOFT_CAP("cap"),
    DOCUMENT("document"),
    PREFIX("prefix");

    private final String parameter;

    Named(String parameter) {
      this.parameter = parameter;
    }
  }

  static Variant of(Parameters parameters) {
    List<Named> named = parameters.choices("rules", Named.CAUSAL);
    parameters.using(
        "rules=" + named.stream().map(Parameters::label).collect(Collectors.joining("/")),
        name -> named.stream().anyMatch(rule -> rule.parameter.equals(name)));
    int window = parameters.whole("window", 1024, 1, MOST);
    int document = parameters.whole("document", 1024, 1, MOST);
    int prefix = parameters.whole("prefix", 256, 0, MOST);
    float cap = (float) parameters.number("cap", 50, 1e-3, 1e6);
    return new Flex(
        shape ->
            named.stream()
                .map(
                    name ->
                        switch (name) {
                          case CAUSAL -> FlexRules.causal();
                          case SLIDING_WINDOW -> FlexRules.slidingWindow(window);
                          case ALIBI -> FlexRules.alibi(shape.heads());
                          case SOFT_CAP -> FlexRules.softCap(cap);
                          case DOCUMENT -> FlexRules.documents(document);
                          case PREFIX -> FlexRules.prefix(prefix);
                        })
                .reduce(FlexRule::and)
                .orElseThrow());
  }

  @Override
  public Estimate estimate(AttentionShape shape, DataType type, int threads) {
    // What a rule hides is not known before it is asked.
    return new Estimate(
        shape.scores(), Estimate.panels(shape.length(), shape.dimension(), threads));
  }

  @Override
  public Plan plan(AttentionInputs inputs, Workbench workbench) {
    AttentionShape shape = inputs.shape();
    FlexRule given = rule.apply(shape);
    FlexRule all = shape.causal() ? given.and(FlexRules.causal()) : given;
    return new Plan() {
      @Override
      public void run(AttentionOutputs outputs) {
        workbench.attend(
            shape.dimension(),
            shape.scale(),
            Flash.strips(inputs, outputs, (batch, head) -> sight(shape, all, batch, head)));
      }

      @Override
      public int times(int batch, int head, int query, int key) {
        return all.sees(batch, head, query, key) ? 1 : 0;
      }

      @Override
      public double score(double score, int batch, int head, int query, int key) {
        return all.score((float) score, batch, head, query, key);
      }
    };
  }

  private static Sight sight(AttentionShape shape, FlexRule rule, int batch, int head) {
    return new Sight() {
      @Override
      public int block() {
        return BLOCK;
      }

      @Override
      public void runs(int query, int rows, Runs runs) {
        Coverage last = Coverage.NONE;
        int from = 0;
        for (int key = 0; key < shape.length(); key += BLOCK) {
          int end = Math.min(key + BLOCK, shape.length());
          Coverage coverage = rule.coverage(batch, head, query, query + rows, key, end);
          if (coverage != last) {
            add(runs, query, from, key, last);
            from = key;
            last = coverage;
          }
        }
        add(runs, query, from, shape.length(), last);
      }

      private void add(Runs runs, int query, int from, int to, Coverage coverage) {
        if (from == to || coverage == Coverage.NONE) {
          return;
        }
        ScoreFunction change =
            rule.changesScores()
                ? (score, row, key) -> rule.score(score, batch, head, query + row, key)
                : null;
        if (coverage == Coverage.ALL) {
          runs.add(from, to, change);
          return;
        }
        runs.add(
            from,
            to,
            (score, row, key) ->
                !rule.sees(batch, head, query + row, key)
                    ? ScoreFunction.HIDDEN
                    : change == null ? score : change.apply(score, row, key));
      }

      @Override
      public int end(int query) {
        return shape.length();
      }
    };
  }
}
