package io.steelyard.engines.steelyard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.ChosenTier;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.lab.worker.EngineException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which tier an engine's process runs in, and what it is started with for that. */
final class SteelyardProviderTest {
  private static final String VARIABLE = "env." + SteelyardOptions.TIER_VARIABLE;

  @Test
  void aTierThatIsNamedOrForcedIsTakenWithoutAWord() throws EngineException {
    assertThat(SteelyardProvider.tier(Map.of("tier", "reference")))
        .isEqualTo(ChosenTier.asked(Tier.REFERENCE));
    assertThat(SteelyardProvider.tier(Map.of(VARIABLE, "vector")))
        .isEqualTo(ChosenTier.asked(Tier.VECTOR));
    assertThat(SteelyardProvider.tier(Map.of("tier", "reference", VARIABLE, "vector")))
        .isEqualTo(ChosenTier.asked(Tier.REFERENCE));
  }

  @Test
  void withoutOneTheFastestIsTakenThatRunsInAProcessOfItsOwn() throws EngineException {
    assertThat(SteelyardProvider.tier(Map.of(VARIABLE, ""))).isEqualTo(ChosenTier.withVectors());
  }

  @Test
  void oneThatThereIsNotIsRefusedWhereverItIsNamed() {
    assertThatThrownBy(() -> SteelyardProvider.tier(Map.of("tier", "fast")))
        .isInstanceOf(EngineException.class)
        .hasMessageContaining("tier must be reference|vector|avx2|avx512|amx, not 'fast'");
    assertThatThrownBy(() -> SteelyardProvider.tier(Map.of(VARIABLE, "fast")))
        .isInstanceOf(EngineException.class)
        .hasMessageContaining("STEELYARD_TIER must be");
  }

  @Test
  void theProcessGetsTheVectorModuleWhereItsTierNeedsIt() {
    SteelyardProvider provider = new SteelyardProvider();

    assertThat(provider.jvmFlags(Map.of("tier", "vector"))).contains(Kernels.VECTOR_FLAG);
    assertThat(provider.jvmFlags(Map.of(VARIABLE, "vector"))).contains(Kernels.VECTOR_FLAG);
    assertThat(provider.jvmFlags(Map.of("tier", "reference"))).doesNotContain(Kernels.VECTOR_FLAG);
    assertThat(provider.jvmFlags(Map.of(VARIABLE, "")).contains(Kernels.VECTOR_FLAG))
        .isEqualTo(ChosenTier.withVectors().tier() == Tier.VECTOR);
  }
}
