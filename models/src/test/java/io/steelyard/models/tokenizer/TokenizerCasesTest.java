package io.steelyard.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.JsonNode;

/** Ids against those of llama.cpp and Hugging Face; see {@link Cases}. */
class TokenizerCasesTest {
  @TestFactory
  Stream<DynamicTest> agreesOnATinyVocabulary() {
    Tokenizer tokenizer = Cases.tiny();
    return Cases.resource("tiny.cases.json").stream()
        .map(each -> Cases.test("tiny", tokenizer, each));
  }

  @Test
  void agreesOnTheDefaultModelsVocabulary() {
    String model =
        System.getProperty("steelyard.test.model", System.getenv("STEELYARD_TEST_MODEL"));
    assumeTrue(
        model != null,
        "SmolLM2-135M-Instruct.Q4_1.gguf is missing: name it in STEELYARD_TEST_MODEL");
    Tokenizer tokenizer = Cases.tokenizer(Path.of(model));
    List<JsonNode> cases = Cases.resource("smollm2.cases.json");
    assertThat(cases).hasSizeGreaterThan(150);
    cases.forEach(each -> Cases.check(tokenizer, each));
    assertThat(tokenizer.endOfGeneration())
        .contains(
            tokenizer.id("<|im_end|>").orElseThrow(), tokenizer.id("<|endoftext|>").orElseThrow());
    assertThat(tokenizer.addBos()).isFalse();
  }
}
