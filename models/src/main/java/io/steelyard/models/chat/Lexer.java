package io.steelyard.models.chat;

import io.steelyard.models.ModelException;
import io.steelyard.models.chat.Token.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Cuts a template into tokens, with white space as Hugging Face sets it: {@code trim_blocks} (the
 * newline after a block goes) and {@code lstrip_blocks} (so do the spaces before it on its line).
 */
final class Lexer {
  private static final Set<String> LONG_OPERATORS = Set.of("==", "!=", "<=", ">=", "//", "**");
  private static final String OPERATORS = "+-*/%~[](){}=<>.:|,;";

  private final String source;
  private final List<Token> tokens = new ArrayList<>();
  private int at;
  private int line = 1;

  /** Whether the text at {@code at} begins a line. */
  private boolean lineStart = true;

  private Lexer(String source) {
    String unix = source.replace("\r\n", "\n").replace('\r', '\n');
    this.source = unix.endsWith("\n") ? unix.substring(0, unix.length() - 1) : unix;
  }

  static List<Token> tokens(String template) {
    Lexer lexer = new Lexer(template);
    lexer.run();
    return lexer.tokens;
  }

  private void run() {
    while (at < source.length()) {
      int tag = nextTag(at);
      text(at, tag, tag);
      if (tag < source.length()) {
        tag(tag);
      }
    }
    add(Kind.END, "");
  }

  private int nextTag(int from) {
    for (int i = from; (i = source.indexOf('{', i)) >= 0 && i + 1 < source.length(); i++) {
      if ("{%#".indexOf(source.charAt(i + 1)) >= 0) {
        return i;
      }
    }
    return source.length();
  }

  /** Emits the text before a tag, less what the tag strips. */
  private void text(int from, int to, int tag) {
    int end = to;
    char sign = tag + 2 < source.length() ? source.charAt(tag + 2) : ' ';
    if (tag < source.length() && sign == '-') {
      while (end > from && isSpace(source.charAt(end - 1))) {
        end--;
      }
    } else if (tag < source.length() && sign != '+' && source.charAt(tag + 1) != '{') {
      int begin = end;
      while (begin > from
          && isSpace(source.charAt(begin - 1))
          && source.charAt(begin - 1) != '\n') {
        begin--;
      }
      boolean wholeLine = begin == from ? lineStart : source.charAt(begin - 1) == '\n';
      end = wholeLine ? begin : end;
    }
    if (end > from) {
      add(Kind.DATA, source.substring(from, end));
    }
    advance(to);
  }

  private void tag(int tag) {
    switch (source.charAt(tag + 1)) {
      case '#' -> {
        int end = source.indexOf("#}", tag + 2);
        if (end < 0) {
          throw error("a comment is not closed by '#}'");
        }
        close(end, true);
      }
      case '{' -> expression(tag, Kind.OUTPUT_BEGIN, Kind.OUTPUT_END, "}}");
      default -> {
        if (!raw(tag)) {
          expression(tag, Kind.BLOCK_BEGIN, Kind.BLOCK_END, "%}");
        }
      }
    }
  }

  /** Leaves a tag whose closing two characters are at {@code end}. */
  private void close(int end, boolean block) {
    char sign = source.charAt(end - 1);
    int after = end + 2;
    if (sign == '-') {
      while (after < source.length() && isSpace(source.charAt(after))) {
        after++;
      }
    } else if (block && sign != '+' && after < source.length() && source.charAt(after) == '\n') {
      after++;
    }
    lineStart = source.charAt(after - 1) == '\n';
    advance(after);
  }

  /** Emits a raw section as text, if one begins here. */
  private boolean raw(int tag) {
    int open = rawTag(tag, "raw");
    if (open < 0) {
      return false;
    }
    close(open, true);
    for (int i = at; (i = source.indexOf("{%", i)) >= 0; i++) {
      int end = rawTag(i, "endraw");
      if (end >= 0) {
        text(at, i, i);
        close(end, true);
        return true;
      }
    }
    throw error("'raw' is not closed by 'endraw'");
  }

  /** Where the block tag of just this name closes, or -1. */
  private int rawTag(int tag, String name) {
    int i = tag + 2;
    if (i < source.length() && "+-".indexOf(source.charAt(i)) >= 0) {
      i++;
    }
    i = skipSpace(i);
    if (!source.startsWith(name, i)) {
      return -1;
    }
    i = skipSpace(i + name.length());
    if (i < source.length() && "+-".indexOf(source.charAt(i)) >= 0) {
      i++;
    }
    return source.startsWith("%}", i) ? i : -1;
  }

  private int skipSpace(int from) {
    int i = from;
    while (i < source.length() && isSpace(source.charAt(i))) {
      i++;
    }
    return i;
  }

  private void expression(int tag, Kind begin, Kind end, String closing) {
    add(begin, closing);
    int depth = 0;
    advance(tag + 2);
    if (at < source.length() && "+-".indexOf(source.charAt(at)) >= 0) {
      advance(at + 1);
    }
    while (true) {
      advance(skipSpace(at));
      if (at >= source.length()) {
        throw error("a tag is not closed by '" + closing + "'");
      }
      char c = source.charAt(at);
      int sign = c == '-' || (c == '+' && end == Kind.BLOCK_END) ? 1 : 0;
      if (depth == 0 && source.startsWith(closing, at + sign)) {
        add(end, closing);
        close(at + sign, end == Kind.BLOCK_END);
        return;
      }
      if (c == '"' || c == '\'') {
        string(c);
      } else if (Character.isDigit(c)) {
        number();
      } else if (Character.isLetter(c) || c == '_') {
        int from = at;
        int i = at;
        while (i < source.length() && isNamePart(source.charAt(i))) {
          i++;
        }
        add(Kind.NAME, source.substring(from, i));
        advance(i);
      } else {
        depth += operator();
      }
    }
  }

  /** Emits an operator and returns by how much it deepens the brackets. */
  private int operator() {
    String two = source.substring(at, Math.min(at + 2, source.length()));
    String operator = LONG_OPERATORS.contains(two) ? two : two.substring(0, 1);
    if (operator.length() == 1 && OPERATORS.indexOf(operator.charAt(0)) < 0) {
      throw error("'" + operator + "' is not understood");
    }
    add(Kind.OPERATOR, operator);
    advance(at + operator.length());
    return switch (operator) {
      case "(", "[", "{" -> 1;
      case ")", "]", "}" -> -1;
      default -> 0;
    };
  }

  private void number() {
    int i = at;
    boolean real = false;
    while (i < source.length()) {
      char c = source.charAt(i);
      boolean exponent = (c == 'e' || c == 'E') && i + 1 < source.length();
      if (exponent && "+-".indexOf(source.charAt(i + 1)) >= 0) {
        i++;
      }
      boolean point =
          c == '.' && i + 1 < source.length() && Character.isDigit(source.charAt(i + 1));
      if (!(Character.isDigit(c) || c == '_' || exponent || (point && !real))) {
        break;
      }
      real |= exponent || point;
      i++;
    }
    String digits = source.substring(at, i).replace("_", "");
    try {
      if (real) {
        add(Kind.NUMBER, Double.valueOf(digits));
      } else {
        add(Kind.NUMBER, Long.valueOf(digits));
      }
    } catch (NumberFormatException e) {
      throw new ModelException(
          error("the number " + digits + " is not understood").getMessage(), e);
    }
    advance(i);
  }

  private void string(char quote) {
    StringBuilder value = new StringBuilder();
    int i = at + 1;
    for (; i < source.length() && source.charAt(i) != quote; i++) {
      char c = source.charAt(i);
      if (c == '\\' && i + 1 < source.length()) {
        i = escape(i + 1, value);
      } else {
        value.append(c);
      }
    }
    if (i >= source.length()) {
      throw error("a string is not closed");
    }
    add(Kind.STRING, value.toString());
    advance(i + 1);
  }

  /** Appends the escape whose letter is at {@code i}; returns where it ends. */
  private int escape(int i, StringBuilder value) {
    char letter = source.charAt(i);
    int digits =
        switch (letter) {
          case 'x' -> 2;
          case 'u' -> 4;
          case 'U' -> 8;
          default -> 0;
        };
    if (digits > 0) {
      try {
        value.appendCodePoint(Integer.parseInt(source, i + 1, i + 1 + digits, 16));
      } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
        throw new ModelException(error("an escape \\" + letter + " is malformed").getMessage(), e);
      }
      return i + digits;
    }
    int plain = "nrtbfav0\\'\"\n".indexOf(letter);
    if (plain < 0) {
      value.append('\\').append(letter);
    } else if (letter != '\n') {
      value.append("\n\r\t\b\f\u0007\u000b\0\\'\"".charAt(plain));
    }
    return i;
  }

  private static boolean isNamePart(char c) {
    return Character.isLetterOrDigit(c) || c == '_';
  }

  private static boolean isSpace(char c) {
    return Character.isWhitespace(c) || Character.isSpaceChar(c);
  }

  private void advance(int to) {
    for (int i = at; i < to; i++) {
      if (source.charAt(i) == '\n') {
        line++;
      }
    }
    at = to;
  }

  private void add(Kind kind, Object value) {
    tokens.add(new Token(kind, value, line));
  }

  private ModelException error(String what) {
    return ChatTemplate.error(line, what);
  }
}
