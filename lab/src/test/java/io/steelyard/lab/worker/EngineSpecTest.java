package io.steelyard.lab.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EngineSpecTest {
  @Test
  void aBareNameIsItsOwnLabel() {
    EngineSpec spec = EngineSpec.parse("steelyard");
    assertThat(spec.name()).isEqualTo("steelyard");
    assertThat(spec.label()).isEqualTo("steelyard");
    assertThat(spec.options()).isEmpty();
    assertThat(spec.isPath()).isFalse();
  }

  @Test
  void optionsKeepTheirOrderAndTheLabelIsNoneOfThem() {
    EngineSpec spec = EngineSpec.parse("steelyard:tier=vector, label=old one,threads=2");
    assertThat(spec.label()).isEqualTo("old one");
    assertThat(spec.options()).hasToString("{tier=vector, threads=2}");
  }

  @Test
  void withoutALabelTheTextIsOne() {
    assertThat(EngineSpec.parse("llamacpp:flash=off").label()).isEqualTo("llamacpp:flash=off");
  }

  @Test
  void aValueMayHoldEqualsSignsAndColons() {
    assertThat(EngineSpec.parse("openai:url=http://h:1/v1?a=b,key=").options())
        .containsEntry("url", "http://h:1/v1?a=b")
        .containsEntry("key", "");
  }

  @Test
  void aNameWithASlashIsAProgram() {
    assertThat(EngineSpec.parse("./engine.py:threads=2").isPath()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          :a=b          | the name is missing
          ' '           | the name is missing
          x:            | option '' has no value
          x:a           | option 'a' has no value
          x:a=1,        | option '' has no value
          x:=1          | an option has no key
          x:a=1,a=2     | option 'a' is there twice
          x:label=      | the label is empty
          """)
  void whatIsWrongIsSaid(String text, String reason) {
    assertThatThrownBy(() -> EngineSpec.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(reason);
  }

  @Test
  void aLineBreakIsRefused() {
    assertThatThrownBy(() -> EngineSpec.parse("x:a=1\n2"))
        .hasMessageContaining("control character");
  }

  @Test
  void optionsThatBeginWithEnvSetVariables() {
    EngineSpec spec = EngineSpec.parse("mine:env.A_HOME=/opt/a,threads=2,env.B=x=y");

    assertThat(EngineSpec.environment(spec.options()))
        .containsExactlyInAnyOrderEntriesOf(java.util.Map.of("A_HOME", "/opt/a", "B", "x=y"));
  }
}
