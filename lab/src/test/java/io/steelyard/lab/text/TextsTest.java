package io.steelyard.lab.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class TextsTest {
  @Test
  void thereAreEightPromptsOfSeveralHundredWords() {
    assertThat(Texts.prompts())
        .hasSize(8)
        .doesNotHaveDuplicates()
        .allSatisfy(
            text ->
                assertThat(text.getBytes(StandardCharsets.UTF_8).length).isBetween(3_000, 8_000));
  }

  @Test
  void promptsDifferFromTheirFirstCharactersOn() {
    assertThat(Texts.prompts()).extracting(text -> text.substring(0, 5)).doesNotHaveDuplicates();
  }

  @Test
  void theParityTextsAreShort() {
    assertThat(Texts.parity())
        .hasSize(3)
        .allSatisfy(
            text -> assertThat(text.getBytes(StandardCharsets.UTF_8).length).isBetween(100, 250));
  }

  @Test
  void theTokenizerCasesAreManyAndAwkward() {
    List<String> cases = Texts.tokenCases();

    assertThat(cases).hasSizeBetween(40, 200).doesNotHaveDuplicates().doesNotContain("");
    String all = String.join("\n", cases);
    assertThat(all)
        .contains(
            "  two leading spaces",
            "\t\t",
            "123456789",
            "<|im_start|>",
            "👩‍👩‍👧‍👦",
            "日本語",
            "العَرَبِيَّةُ");
  }

  @Test
  void theTextForPerplexityIsLongAndRepeatsNoParagraph() {
    String text = Texts.perplexity();

    assertThat(text.getBytes(StandardCharsets.UTF_8).length).isGreaterThan(50_000);
    assertThat(text.split("\\R\\R")).filteredOn(part -> part.length() > 80).doesNotHaveDuplicates();
    assertThat(text).doesNotContain("\uFFFD");
  }

  @Test
  void everyTextIsWholeUtf8() {
    for (List<String> texts : List.of(Texts.prompts(), Texts.parity())) {
      assertThat(texts).noneMatch(text -> text.contains("\uFFFD"));
    }
  }
}
