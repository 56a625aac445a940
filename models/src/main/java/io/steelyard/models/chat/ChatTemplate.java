package io.steelyard.models.chat;

import io.steelyard.models.ModelException;
import io.steelyard.models.chat.Syntax.Statement;
import java.time.Clock;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A model's chat template ({@code tokenizer.chat_template}): a Jinja template that writes a
 * conversation as the model was trained to read it.
 *
 * <p>Templates come with model files and are not trusted: they reach nothing but their variables,
 * and time, memory and depth are bounded. White space, functions and filters are those of Hugging
 * Face transformers. Any number of threads may share a template.
 *
 * @see <a href="https://jinja.palletsprojects.com/en/stable/templates/">Jinja's language</a>
 */
public final class ChatTemplate {
  private static final int LONGEST = 1 << 20;

  private final List<Statement> body;
  private final Clock clock;

  private ChatTemplate(List<Statement> body, Clock clock) {
    this.body = body;
    this.clock = clock;
  }

  /**
   * Reads a template.
   *
   * @throws ModelException if it can't be parsed or uses what is not supported, with the line
   */
  public static ChatTemplate parse(String jinja) {
    return parse(jinja, Clock.system(ZoneId.systemDefault()));
  }

  static ChatTemplate parse(String jinja, Clock clock) {
    if (jinja.length() > LONGEST) {
      throw new ModelException(
          "the chat template has %d characters; at most %d make sense"
              .formatted(jinja.length(), LONGEST));
    }
    return new ChatTemplate(Parser.parse(jinja), clock);
  }

  /**
   * Writes a conversation.
   *
   * @param addGenerationPrompt whether to end with what begins the model's answer
   * @param bosToken the spelling of the token that begins a text, empty if there is none
   * @param eosToken the spelling of the token that ends a text, empty if there is none
   * @return the text, to be tokenized with its special tokens parsed and without adding a beginning
   *     token, which templates write themselves
   * @throws ModelException if the template refuses the messages or goes wrong, with the line
   */
  public String render(
      List<ChatMessage> messages, boolean addGenerationPrompt, String bosToken, String eosToken) {
    return render(messages, addGenerationPrompt, bosToken, eosToken, Map.of());
  }

  /**
   * As the other, with further variables, such as {@code enable_thinking}. They win over those set
   * here; null is None.
   */
  public String render(
      List<ChatMessage> messages,
      boolean addGenerationPrompt,
      String bosToken,
      String eosToken,
      Map<String, ?> variables) {
    Map<String, Object> all = new HashMap<>();
    List<Object> turns = new ArrayList<>();
    for (ChatMessage message : messages) {
      turns.add(Map.of("role", message.role(), "content", message.content()));
    }
    all.put("messages", turns);
    all.put("add_generation_prompt", addGenerationPrompt);
    all.put("bos_token", bosToken);
    all.put("eos_token", eosToken);
    all.put("tools", null);
    all.put("documents", null);
    all.putAll(variables);
    return render(all);
  }

  /** Runs the template on just these variables. */
  String render(Map<String, ?> variables) {
    Map<String, Object> all = new HashMap<>(Functions.all(clock));
    variables.forEach((name, value) -> all.put(name, Values.of(value)));
    return new Evaluator().run(body, all);
  }

  static ModelException error(int line, String what) {
    return new ModelException("chat template, line %d: %s".formatted(line, what));
  }
}
