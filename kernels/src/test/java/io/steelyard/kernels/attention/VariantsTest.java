package io.steelyard.kernels.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every variant of attention is what its definition says, in every tier that runs here. */
final class VariantsTest {
  /** Parameters that odd lengths don't divide. */
  private static final List<String> WITH_PARAMETERS =
      List.of(
          "dilated:segments=16/50/256,rates=1/2/3",
          "improved-dilated:segments=16/50/256,rates=1/2/3",
          "longnet:segments=16/64/300,rates=1/2/4",
          "ring:ranks=7",
          "ring-dilated-v2:segments=16/50/256,rates=1/2/3,ranks=3",
          "ring-dilated-v3:segments=16/50/256,rates=1/2/3,ranks=3",
          "block-sparse:pattern=local-window,window=100,block=16",
          "block-sparse:pattern=dilated-sparse,block=20",
          "block-sparse:pattern=global-local,block=32,window=64",
          "block-sparse:pattern=hierarchical,block=32",
          "block-sparse:pattern=strided,block=7,window=20,stride=3",
          "block-sparse:pattern=random,density=0.3,block=24",
          "block-sparse:pattern=adaptive,density=0.3,block=24",
          "block-sparse:pattern=learned,density=0.3",
          "sparse:pattern=random,ratio=0.7,block=16",
          "sparse:pattern=block-sparse,ratio=0.7,block=16",
          "sparse:pattern=strided,ratio=0.7,block=16",
          "sparse:pattern=local-global,ratio=0.7,block=16",
          "sparse:pattern=dynamic-threshold,ratio=0.7",
          "sparse:pattern=dynamic-threshold,ratio=0.9,block=5,slack=1",
          "sparse:pattern=top-k,ratio=0.9",
          "sparse:pattern=top-k,share=0.02",
          "block-sparse:pattern=learned,share=0.05,block=8",
          "sparse:pattern=learned,share=0.02,keys=0.02,block=8",
          "sparse:pattern=learned,ratio=0.7,block=24",
          "sparse:pattern=learned,ratio=0.7,block=24,rest=means",
          "flex:rules=causal",
          "flex:rules=sliding-window,window=50",
          "flex:rules=alibi",
          "flex:rules=soft-cap,cap=2",
          "flex:rules=document,document=60",
          "flex:rules=prefix,prefix=40",
          "flex:rules=document/alibi/soft-cap,document=200,cap=3");

  /** Each variant that there is, and these. */
  static final List<String> SPELLINGS =
      Stream.concat(Variants.descriptions().keySet().stream(), WITH_PARAMETERS.stream()).toList();

  /** Of a head; of the shorter shapes these are all. */
  private static final int CHECKED_ROWS = 131;

  static final List<AttentionShape> SHAPES =
      List.of(
          new AttentionShape(1, 1, 1, 1, 2, true),
          new AttentionShape(1, 7, 3, 1, 8, false),
          new AttentionShape(2, 127, 4, 2, 64, true),
          new AttentionShape(1, 131, 7, 1, 40, false),
          new AttentionShape(1, 300, 3, 3, 32, false),
          new AttentionShape(1, 517, 4, 2, 22, true));

  static Stream<Tier> tiers() {
    return Stream.of(Tier.values()).filter(Kernels::available);
  }

  @ParameterizedTest
  @MethodSource("tiers")
  void shouldMatchItsDefinition(Tier tier) {
    check(tier, SPELLINGS, SHAPES);
  }

  @ParameterizedTest
  @MethodSource("tiers")
  @Tag("soak")
  void shouldMatchItsDefinitionInSixtyShapes(Tier tier) {
    check(tier, SPELLINGS, sixtyShapes());
  }

  private static List<AttentionShape> sixtyShapes() {
    int[][] heads = {{1, 1, 64}, {7, 1, 64}, {8, 2, 80}, {4, 4, 33}, {14, 2, 16}, {3, 1, 128}};
    List<AttentionShape> shapes = new ArrayList<>();
    for (int length : new int[] {1, 7, 64, 127, 128, 129, 255, 333, 1000, 4097}) {
      for (int[] of : heads) {
        boolean odd = shapes.size() % 2 == 1;
        if (length <= 1000) {
          shapes.add(new AttentionShape(odd ? 2 : 1, length, of[0], of[1], of[2], !odd));
        } else {
          // Narrower, and of heads that share keys one group: the reference tier takes all of it.
          shapes.add(new AttentionShape(1, length, of[0] / of[1], 1, of[2] / 4, !odd));
        }
      }
    }
    return shapes;
  }

  /** Holds one variant that there is to its definition. */
  static void check(String variant) {
    assertThat(SPELLINGS).contains(variant);
    check(Kernels.best(), List.of(variant), SHAPES);
  }

  private static void check(Tier tier, List<String> spellings, List<AttentionShape> shapes) {
    try (Workbench workbench =
        new Workbench(tier, 2, MemoryPool.poisoned(), new PatternCache(64))) {
      for (String spelling : spellings) {
        for (AttentionShape shape : shapes) {
          for (DataType type : List.of(DataType.F32, DataType.F16, DataType.BF16)) {
            check(workbench, spelling, shape, type);
          }
        }
      }
    }
  }

  private static void check(
      Workbench workbench, String spelling, AttentionShape shape, DataType type) {
    try (Arena arena = Arena.ofShared()) {
      AttentionInputs inputs = RandomInputs.of(arena, shape, type, 1);
      AttentionOutputs outputs = AttentionOutputs.allocate(arena, shape, type);
      outputs.out().fill((byte) 0x7F);
      outputs.logSums().fill((byte) 0x7F);
      Variant variant = Variants.of(spelling);
      if (variant instanceof Differential && shape.dimension() % 2 == 1) {
        assertThatThrownBy(() -> variant.plan(inputs, workbench))
            .hasMessageContaining("%d values are no head of its", shape.dimension());
        return;
      }
      try (Plan plan = variant.plan(inputs, workbench)) {
        plan.run(outputs);
        Oracle.Deviation error = Oracle.check(inputs, plan, outputs, CHECKED_ROWS, 1);
        assertThat(error.isRounding(type))
            .as("%s in %s, %s, %s: %s", spelling, workbench.tier(), shape, type, error)
            .isTrue();
      }
    }
  }

  @Test
  void shouldNameWhatThereIsWhereSomethingIsUnknown() {
    assertThatThrownBy(() -> Variants.of("flesh")).hasMessageContaining("dense, flash, dilated");
    assertThatThrownBy(() -> Variants.of("ring:rank=3"))
        .hasMessageContaining("no parameter 'rank'; it has ranks");
    assertThatThrownBy(() -> Variants.of("ring:ranks=0"))
        .hasMessageContaining("a whole number from 1 to 4096");
    assertThatThrownBy(() -> Variants.of("block-sparse:pattern=none"))
        .hasMessageContaining("local-window, dilated-sparse");
    assertThatThrownBy(() -> Variants.of("block-sparse:density=0.1"))
        .hasMessageContaining(
            "block-sparse with pattern=local-window has no parameter 'density'; it has block,"
                + " pattern, window");
    assertThatThrownBy(() -> Variants.of("sparse:pattern=strided,seed=2"))
        .hasMessageContaining("no parameter 'seed'; it has block, pattern, ratio");
    assertThatThrownBy(() -> Variants.of("flex:rules=causal/alibi,window=5"))
        .hasMessageContaining("with rules=causal/alibi has no parameter 'window'; it has rules");
    assertThatThrownBy(() -> Variants.of("dilated:segments=4/8,rates=1"))
        .hasMessageContaining("2 segments and 1 rates");
  }
}
