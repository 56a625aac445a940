package io.steelyard.models.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.steelyard.models.ModelException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.ObjectMapper;

/** Against what Jinja itself made of the same templates; {@code golden.py} in the resources. */
class ChatTemplateGoldenTest {
  private static final Clock NOW =
      Clock.fixed(Instant.parse("2024-07-26T14:05:09Z"), ZoneOffset.UTC);

  private record Expected(String text, String refused) {}

  private record Case(String template, String text, String refused) {}

  private record Conformance(Map<String, Object> variables, List<Case> cases) {}

  @TestFactory
  Stream<DynamicTest> doesWithEachConstructWhatJinjaDoes() throws IOException {
    Conformance golden = read("conformance.json", Conformance.class);
    assertThat(golden.cases()).hasSizeGreaterThan(500);
    return golden.cases().stream()
        .map(
            each ->
                DynamicTest.dynamicTest(
                    each.template(),
                    () -> check(each.template(), golden.variables(), each.text())));
  }

  @TestFactory
  Stream<DynamicTest> writesConversationsAsJinjaDoes() throws IOException {
    Map<?, ?>[] conversations = read("conversations.json", Map[].class);
    Map<?, ?> names = read("families.json", Map.class);
    assertThat(names).hasSizeGreaterThanOrEqualTo(7);
    List<DynamicTest> tests = new ArrayList<>();
    for (Object name : names.keySet()) {
      String template = text((String) name);
      Expected[] golden = new ObjectMapper().convertValue(names.get(name), Expected[].class);
      assertThat(golden).hasSameSizeAs(conversations);
      for (int i = 0; i < golden.length; i++) {
        Map<String, ?> variables = variables(conversations[i]);
        String text = golden[i].text();
        tests.add(
            DynamicTest.dynamicTest(
                name + ", conversation " + i, () -> check(template, variables, text)));
      }
    }
    return tests.stream();
  }

  @Test
  void writesTheDefaultModelsConversation() throws IOException {
    ChatTemplate template = ChatTemplate.parse(text("smollm2.jinja"));
    String prompt =
        template.render(
            List.of(new ChatMessage("user", "Hi"), new ChatMessage("assistant", "Hello")),
            true,
            "<|im_start|>",
            "<|im_end|>");
    assertThat(prompt)
        .isEqualTo(
            """
            <|im_start|>system
            You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>
            <|im_start|>user
            Hi<|im_end|>
            <|im_start|>assistant
            Hello<|im_end|>
            <|im_start|>assistant
            """);
  }

  private static void check(String template, Map<String, ?> variables, String text) {
    if (text == null) {
      assertThatExceptionOfType(ModelException.class)
          .isThrownBy(() -> ChatTemplate.parse(template, NOW).render(variables))
          .withMessageMatching("(?s)chat template, line \\d+: .+");
    } else {
      assertThat(ChatTemplate.parse(template, NOW).render(variables)).isEqualTo(text);
    }
  }

  @SuppressWarnings("unchecked") // JSON objects have strings for keys
  private static Map<String, ?> variables(Map<?, ?> json) {
    return (Map<String, ?>) json;
  }

  private static <T> T read(String resource, Class<T> type) throws IOException {
    return new ObjectMapper().readValue(text(resource), type);
  }

  static String text(String resource) throws IOException {
    try (InputStream in = ChatTemplateGoldenTest.class.getResourceAsStream(resource)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
