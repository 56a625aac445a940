package io.steelyard.app;

import io.steelyard.models.chat.ChatMessage;
import io.steelyard.models.chat.ChatTemplate;
import io.steelyard.models.gguf.Metadata;
import io.steelyard.models.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The text that a model goes on from, and how it becomes tokens. */
final class PromptOptions {
  @Parameters(paramLabel = "PROMPT", arity = "0..1", description = "the text to go on from")
  private String prompt;

  @Option(names = "--chat", description = "put the prompt into the model's chat template")
  private boolean chat;

  @Option(
      names = "--system",
      paramLabel = "TEXT",
      defaultValue = "",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      description = "a system message, with --chat")
  private String system;

  @Option(names = "--special", description = "parse control tokens written in the prompt")
  private boolean special;

  /** Whether the command line holds a prompt. */
  boolean given() {
    return prompt != null;
  }

  /**
   * Makes sure that there is a prompt.
   *
   * @throws UsageException if there is none
   */
  void require() {
    if (!given()) {
      throw new UsageException(
          "there is no PROMPT: give a text to go on from, or a file of prompts with --batch");
    }
  }

  /**
   * The prompt's tokens, at least one.
   *
   * @throws UsageException if there is nothing to begin with, or no chat template
   */
  int[] ids(Tokenizer tokenizer, Metadata metadata) {
    return ids(prompt, tokenizer, metadata);
  }

  /**
   * The tokens of another prompt, at least one.
   *
   * @throws UsageException if there is nothing to begin with, or no chat template
   */
  int[] ids(String prompt, Tokenizer tokenizer, Metadata metadata) {
    String text = chat ? templated(prompt, tokenizer, metadata) : prompt;
    int[] ids = tokenizer.encode(text, chat || special);
    boolean bos = tokenizer.addBos() && !startsWithBos(ids, tokenizer);
    if (!bos && ids.length > 0) {
      return ids;
    }
    if (tokenizer.bos().isEmpty()) {
      throw new UsageException("the prompt is empty, and this model has no token to begin with");
    }
    int[] begun = new int[ids.length + 1];
    begun[0] = tokenizer.bos().getAsInt();
    System.arraycopy(ids, 0, begun, 1, ids.length);
    return begun;
  }

  private static boolean startsWithBos(int[] ids, Tokenizer tokenizer) {
    return ids.length > 0 && tokenizer.bos().isPresent() && ids[0] == tokenizer.bos().getAsInt();
  }

  private String templated(String prompt, Tokenizer tokenizer, Metadata metadata) {
    if (!metadata.has("tokenizer.chat_template")) {
      throw new UsageException(
          "this model carries no chat template: leave --chat out, or use a model made for chat");
    }
    List<ChatMessage> messages = new ArrayList<>();
    if (!system.isEmpty()) {
      messages.add(new ChatMessage("system", system));
    }
    messages.add(new ChatMessage("user", prompt));
    return ChatTemplate.parse(metadata.string("tokenizer.chat_template"))
        .render(
            messages,
            true,
            tokenizer.bos().isPresent() ? tokenizer.piece(tokenizer.bos().getAsInt()) : "",
            tokenizer.eos().isPresent() ? tokenizer.piece(tokenizer.eos().getAsInt()) : "");
  }
}
