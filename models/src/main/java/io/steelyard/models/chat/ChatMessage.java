package io.steelyard.models.chat;

import java.util.Objects;

/**
 * One turn of a conversation.
 *
 * @param role who speaks; {@code system}, {@code user} and {@code assistant} are what every
 *     template knows
 * @param content what is said
 */
public record ChatMessage(String role, String content) {
  public ChatMessage {
    Objects.requireNonNull(role, "role");
    Objects.requireNonNull(content, "content");
  }
}
