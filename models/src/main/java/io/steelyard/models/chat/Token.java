package io.steelyard.models.chat;

/** A token of a template: {@code value} is a String, or a Long or Double for numbers. */
record Token(Kind kind, Object value, int line) {
  enum Kind {
    /** Text between tags. */
    DATA,
    /** The beginning and end of <code>{{ }}</code> and <code>{% %}</code>. */
    OUTPUT_BEGIN,
    OUTPUT_END,
    BLOCK_BEGIN,
    BLOCK_END,
    NAME,
    STRING,
    NUMBER,
    OPERATOR,
    END
  }

  boolean is(String operator) {
    return kind == Kind.OPERATOR && value.equals(operator);
  }

  boolean isName(String name) {
    return kind == Kind.NAME && value.equals(name);
  }

  /** The token as a message names it. */
  String described() {
    return switch (kind) {
      case DATA -> "text";
      case OUTPUT_BEGIN -> "{{";
      case OUTPUT_END -> "}}";
      case BLOCK_BEGIN -> "{%";
      case BLOCK_END -> "%}";
      case END -> "the end of the template";
      default -> "'" + value + "'";
    };
  }
}
