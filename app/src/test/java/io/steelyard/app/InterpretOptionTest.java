package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.engines.steelyard.SteelyardProvider;
import io.steelyard.lab.worker.EngineSpec;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class InterpretOptionTest {
  private static InterpretOption asked(boolean on) {
    InterpretOption option = new InterpretOption();
    option.on = on;
    return option;
  }

  @Test
  void steelyardsEngineAloneIsToldSo() {
    assertThat(asked(true).on(List.of("steelyard", "steelyard:tier=avx2", "llamacpp")))
        .containsExactly("steelyard:interpret=on", "steelyard:tier=avx2,interpret=on", "llamacpp");
    assertThat(asked(false).on("steelyard")).isEqualTo("steelyard");
    assertThatThrownBy(() -> asked(true).on("llamacpp"))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("not for llamacpp");
  }

  @Test
  void itsProcessCompilesNothing() {
    SteelyardProvider provider = new SteelyardProvider();

    assertThat(provider.jvmFlags(Map.of("interpret", "on"))).contains("-Xint");
    assertThat(provider.jvmFlags(Map.of("interpret", "off"))).doesNotContain("-Xint");
    assertThat(provider.jvmFlags(Map.of())).doesNotContain("-Xint");
  }

  @Test
  void everyLabelSaysIt() {
    assertThat(StudyOptions.label(EngineSpec.parse("steelyard:interpret=on")))
        .isEqualTo("steelyard:interpret=on");
    assertThat(StudyOptions.label(EngineSpec.parse("steelyard:interpret=on,label=mine")))
        .isEqualTo("mine (interpreted)");
    assertThat(StudyOptions.label(EngineSpec.parse("steelyard:label=mine"))).isEqualTo("mine");
  }
}
