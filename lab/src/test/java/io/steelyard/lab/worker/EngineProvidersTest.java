package io.steelyard.lab.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.lab.worker.EngineException.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EngineProvidersTest {
  @Test
  void anEngineIsFoundByItsNameAndByItsProvidersClass() throws EngineException {
    assertThat(EngineProviders.find("test")).isInstanceOf(TestEngine.Provider.class);
    assertThat(EngineProviders.find(TestEngine.Provider.class.getName()))
        .isInstanceOf(TestEngine.Provider.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"nothing", "no.such.Class", "java.lang.String", "java.util.List", "."})
  void whatIsNoProviderIsMissingAndNamed(String name) {
    assertThatThrownBy(() -> EngineProviders.find(name))
        .isInstanceOfSatisfying(
            EngineException.class, thrown -> assertThat(thrown.kind()).isEqualTo(Kind.MISSING))
        .hasMessageContaining("'" + name + "'");
  }
}
