package io.steelyard.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which tier serves where none is asked for, and what is said of it. */
final class ChosenTierTest {
  private static final String OBSTACLE = "this system forbids executable memory";

  private static ChosenTier fastest(Tier... running) {
    return ChosenTier.fastest(Set.of(running)::contains, OBSTACLE);
  }

  @Test
  void machineCodeServesWithoutAWord() {
    assertThat(fastest(Tier.REFERENCE, Tier.AVX2)).isEqualTo(ChosenTier.asked(Tier.AVX2));
    assertThat(fastest(Tier.REFERENCE, Tier.VECTOR, Tier.AVX2, Tier.AVX512))
        .isEqualTo(ChosenTier.asked(Tier.AVX512));
    assertThat(fastest(Tier.values())).isEqualTo(ChosenTier.asked(Tier.AMX));
  }

  @Test
  void withoutMachineCodeTheVectorTierServesAndTheReasonIsSaid() {
    assertThat(fastest(Tier.REFERENCE, Tier.VECTOR))
        .isEqualTo(
            new ChosenTier(
                Tier.VECTOR,
                "no machine-code kernels (this system forbids executable memory): the vector tier"
                    + " serves"));
  }

  @Test
  void withoutTheVectorModuleTheReferenceServesAndTheFlagIsNamed() {
    ChosenTier chosen = fastest(Tier.REFERENCE);

    assertThat(chosen.tier()).isEqualTo(Tier.REFERENCE);
    assertThat(chosen.notice())
        .contains(OBSTACLE, "the reference tier serves", "--add-modules=jdk.incubator.vector")
        .hasLineCount(1);
  }

  @Test
  void whatIsChosenHereRunsHereAndWithTheModuleItIsNeverTheReference() {
    assertThat(Kernels.available(ChosenTier.here().tier())).isTrue();
    assertThat(ChosenTier.here().tier()).isEqualTo(Kernels.best());
    assertThat(ChosenTier.withVectors().tier())
        .isGreaterThanOrEqualTo(Tier.VECTOR)
        .isGreaterThanOrEqualTo(Kernels.best());
  }
}
