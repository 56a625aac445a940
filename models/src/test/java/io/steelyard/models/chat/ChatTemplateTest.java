package io.steelyard.models.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.steelyard.models.ModelException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChatTemplateTest {
  private static final List<ChatMessage> HELLO = List.of(new ChatMessage("user", "hello"));

  private static String render(String template) {
    return ChatTemplate.parse(template).render(HELLO, true, "<s>", "</s>");
  }

  @Test
  void givesTemplatesWhatHuggingFaceGivesThem() {
    assertThat(
            render(
                "{{ bos_token }}{{ messages[0].role }}:{{ messages[0]['content'] }}"
                    + "{{ eos_token }} {{ add_generation_prompt }} {{ tools is none }}"))
        .isEqualTo("<s>user:hello</s> True True");
  }

  @Test
  void letsFurtherVariablesWin() {
    Map<String, Object> more = new HashMap<>();
    more.put("bos_token", "<b>");
    more.put("deep", List.of(Map.of("a", 1.5f), 2));
    more.put("nothing", null);
    ChatTemplate template = ChatTemplate.parse("{{ bos_token }}{{ deep }}{{ nothing }}");
    assertThat(template.render(HELLO, false, "<s>", "", more)).isEqualTo("<b>[{'a': 1.5}, 2]None");
  }

  @Test
  void isTheSameEachTime() {
    ChatTemplate template = ChatTemplate.parse("{% set x = x ~ 'a' %}{{ x }}");
    assertThat(template.render(Map.of("x", ""))).isEqualTo("a");
    assertThat(template.render(Map.of("x", ""))).isEqualTo("a");
  }

  @Test
  void namesTheLineOfAFault() {
    assertThatExceptionOfType(ModelException.class)
        .isThrownBy(() -> render("a\n{% if true %}\n{{ missing.name }}\n{% endif %}"))
        .withMessage("chat template, line 3: 'missing' is undefined");
    assertThatExceptionOfType(ModelException.class)
        .isThrownBy(() -> render("a\n\n{{ raise_exception('no system turn') }}"))
        .withMessage("chat template, line 3: it refuses these messages: no system turn");
    assertThatExceptionOfType(ModelException.class)
        .isThrownBy(() -> render("\n\n\n{% include 'x' %}"))
        .withMessage("chat template, line 4: the tag 'include' is not supported");
  }

  @Test
  void letsNoTemplateChangeItsVariables() {
    assertThatExceptionOfType(ModelException.class)
        .isThrownBy(() -> render("{{ messages.append(1) }}"))
        .withMessageContaining("'append' would change a list");
  }

  @Test
  void seesNothingOfJava() {
    assertThat(render("{{ messages.class }}{{ bos_token.getClass }}{{ ''.__class__ }}")).isEmpty();
  }

  @ParameterizedTest
  @Timeout(60) // a guard against hanging, not a measurement
  @ValueSource(
      strings = {
        // time
        "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% set x = a == b %}{% endfor %}{% endfor %}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% macro f(n) %}{{ f(n + 1) }}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
        "{{ range(10 ** 12) | list }}",
        // memory
        "{% set ns = namespace(x='a') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{{ 'a' * 10 ** 12 }}",
        "{{ [1] * 10 ** 12 }}",
        "{{ ('a' * 10 ** 7).replace('', 'b' * 10 ** 7) }}",
        "{{ (['a' * 10 ** 6] * 10 ** 4) | join('b' * 10 ** 6) }}",
        "{{ ('\n' * 10 ** 6) | indent(1000, blank=true) }}",
        "{% set x = 'a' * 10 ** 7 %}{{ x }}{{ x }}{{ x }}",
        "{{ '{}{}{}{}'.format('a' * 10 ** 7, 'a' * 10 ** 7, 'a' * 10 ** 7, 'a' * 10 ** 7) }}",
        "{% for i in range(100000) %}{% set y = ('a' * 10 ** 7) ~ i %}{% endfor %}",
        "{% set a = 'a' * 10 ** 7 %}{% set b = a ~ 'b' %}{% set c = a ~ 'b' %}{% for i in range(99999) %}{% for j in range(99) %}{% set y = b == c %}{% endfor %}{% endfor %}",
        "{% set a = 'a' * 10 ** 7 %}{% for i in range(99999) %}{% set y = a | length %}{% set y = a[0] %}{% set y = a is lower %}{% set y = a.split() %}{% endfor %}",
        "{{ ('a ' * 10 ** 6 * 8).split() | length }}",
        // a value that is small to store and huge to walk
        "{% set ns = namespace(x=[1]) %}{% for i in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x | tojson }}",
        "{% set n = namespace(x=[1], y=[1]) %}{% for i in range(90) %}{% set n.x = [n.x, n.x] %}{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x == n.y }}",
        "{% set n = namespace(x=[1], y=[1]) %}{% for i in range(90) %}{% set n.x = [n.x, n.x] %}{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x < n.y }}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ {}[ns.x] }}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(900) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
        "{% set ns = namespace() %}{% set ns.me = ns %}{{ {ns: 1} }}",
        // sums that go wrong
        "{{ 9223372036854775807 + 1 }}",
        "{{ (-9223372036854775807 - 1) | abs }}",
        "{{ 99999999999999999999 }}",
        "{{ 2 ** 64 }}",
        "{{ 1 % 0 }}",
        "{{ 1.0 // 0 }}",
        "{{ 'a'[1:2:0] }}",
        "{{ range(1, 2, 0) }}",
        "{{ '\\ud83' }}",
        "{{ '\\U99999999' }}",
        "{{ [3, 'a', 1] | sort }}",
        "{{ '{:>10}'.format(1) }}",
        "{{ strftime_now('%Q') }}",
      })
  void refusesWhatWouldRunAway(String template) {
    assertThatExceptionOfType(ModelException.class)
        .isThrownBy(() -> render(template))
        .withMessageStartingWith("chat template, line 1: ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "(",
        "[",
        "{'a':",
        "not ",
        "-",
        "a[",
        "a(",
        "1 if ",
        "{% if a %}",
        "{% for a in b %}"
      })
  void refusesDeepNesting(String opening) {
    String inside = opening.startsWith("{%") ? "" : "{{ ";
    assertThatExceptionOfType(ModelException.class)
        .isThrownBy(() -> render(inside + opening.repeat(50_000)))
        .withMessageStartingWith("chat template, line 1: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {" ~ a", " + 'a'", ".a", "[0]", " | trim", " and a", "()"})
  void refusesLongChains(String link) {
    assertThatExceptionOfType(ModelException.class)
        .isThrownBy(
            () ->
                ChatTemplate.parse("{{ a" + link.repeat(100_000) + " }}").render(Map.of("a", "x")))
        .withMessageStartingWith("chat template, line 1: ");
  }

  @Test
  void refusesATemplateOfAbsurdLength() {
    assertThatExceptionOfType(ModelException.class)
        .isThrownBy(() -> ChatTemplate.parse("a".repeat(2_000_000)))
        .withMessageContaining("2000000 characters");
  }

  @Test
  void failsInOneWayAlone() throws Exception {
    String[] parts =
        (ChatTemplateGoldenTest.text("llama3-style.jinja")
                + ChatTemplateGoldenTest.text("macro-style.jinja")
                + ChatTemplateGoldenTest.text("mistral-style.jinja"))
            .split("(?<=\\W)|(?=\\W)", -1);
    Random random = new Random(20240726);
    int rendered = 0;
    for (int i = 0; i < 20_000; i++) {
      StringBuilder template = new StringBuilder();
      int from = random.nextInt(parts.length);
      for (int n = random.nextInt(120); n >= 0; n--) {
        template.append(
            parts[random.nextInt(12) == 0 ? random.nextInt(parts.length) : from++ % parts.length]);
      }
      try {
        render(template.toString());
        rendered++;
      } catch (ModelException refused) {
        assertThat(refused).hasMessageStartingWith("chat template, line ");
      }
    }
    assertThat(rendered).isGreaterThan(500);
  }
}
