package io.steelyard.reports;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MarkdownTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "amx_int8; amx_int8",
        "_x_; \\_x\\_",
        "a|b; a\\|b",
        "<b>; \\<b\\>",
        "1.84× [1.80, 1.88]; 1.84× [1.80, 1.88]",
        "[a](b); [a\\](b)",
        "*`\\; \\*\\`\\\\",
        "# a; \\# a",
        "- a; \\- a"
      })
  void signsAreEscapedOnlyWhereTheyMeanSomething(String text, String expected) {
    assertThat(Markdown.text(text)).isEqualTo(expected);
  }

  @Test
  void textStaysInItsLine() {
    assertThat(Markdown.text("a\n\n# b")).isEqualTo("a # b");
  }

  @Test
  void codeMayHoldBackticks() {
    assertThat(Markdown.code("a`b")).isEqualTo("``a`b``");
    assertThat(Markdown.code("`")).isEqualTo("`` ` ``");
    assertThat(Markdown.block("sh", "```")).startsWith("````sh\n");
  }
}
