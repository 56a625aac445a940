package io.steelyard.models.chat;

import io.steelyard.models.chat.Syntax.Expression;
import io.steelyard.models.chat.Syntax.Statement;
import io.steelyard.models.chat.Syntax.Target;
import io.steelyard.models.chat.Token.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Statements of a template; the expressions inside are {@link ExpressionParser}'s. */
final class Parser {
  private final ExpressionParser in;
  private int loops;

  private Parser(List<Token> tokens) {
    in = new ExpressionParser(tokens);
  }

  /** Parses a template. */
  static List<Statement> parse(String template) {
    Parser parser = new Parser(Lexer.tokens(template));
    List<Statement> body = parser.body(Set.of());
    if (parser.in.peek().kind() != Kind.END) {
      throw parser.in.unexpected("a tag that is open");
    }
    return body;
  }

  /** Reads up to a block tag with one of these names, whose name is then the next token. */
  private List<Statement> body(Set<String> ends) {
    in.deeper();
    List<Statement> body = new ArrayList<>();
    while (in.peek().kind() != Kind.END) {
      Token token = in.next();
      switch (token.kind()) {
        case DATA -> body.add(new Syntax.Text(token.line(), (String) token.value()));
        case OUTPUT_BEGIN -> {
          body.add(new Syntax.Output(token.line(), in.tuple()));
          in.expect(Kind.OUTPUT_END);
        }
        default -> {
          Token name = in.peek();
          if (name.kind() == Kind.NAME && ends.contains((String) name.value())) {
            in.shallower();
            return body;
          }
          body.add(statement(token.line(), in.name()));
        }
      }
    }
    if (!ends.isEmpty()) {
      throw in.unexpected("{% " + String.join(" %} or {% ", new java.util.TreeSet<>(ends)) + " %}");
    }
    in.shallower();
    return body;
  }

  /** Reads the name of the tag that ended a body, up to the end of the tag. */
  private String end() {
    String name = in.name();
    in.expect(Kind.BLOCK_END);
    return name;
  }

  private List<Statement> bodyUntil(String end) {
    in.expect(Kind.BLOCK_END);
    List<Statement> body = body(Set.of(end));
    end();
    return body;
  }

  private Statement statement(int line, String tag) {
    return switch (tag) {
      case "if" -> ifStatement(line);
      case "for" -> forStatement(line);
      case "set" -> setStatement(line);
      case "macro" -> macro(line);
      case "filter" -> {
        List<Syntax.Filter> filters = new ArrayList<>();
        do {
          filters.add(in.filter(new Syntax.Constant("")));
        } while (in.accept("|"));
        yield new Syntax.Capture(line, Optional.empty(), filters, bodyUntil("endfilter"));
      }
      case "generation" -> new Syntax.Block(line, bodyUntil("endgeneration"));
      case "break", "continue" -> {
        if (loops == 0) {
          throw ChatTemplate.error(line, "'" + tag + "' stands outside of a loop");
        }
        in.expect(Kind.BLOCK_END);
        yield tag.equals("break") ? new Syntax.Break(line) : new Syntax.Continue(line);
      }
      default -> throw ChatTemplate.error(line, "the tag '" + tag + "' is not supported");
    };
  }

  private Statement ifStatement(int line) {
    Expression test = in.tuple();
    in.expect(Kind.BLOCK_END);
    List<Statement> then = body(Set.of("elif", "else", "endif"));
    Token end = in.peek();
    if (end.isName("elif")) {
      in.next();
      in.deeper();
      Statement nested = ifStatement(end.line());
      in.shallower();
      return new Syntax.If(line, test, then, List.of(nested));
    }
    List<Statement> otherwise = List.of();
    if (end().equals("else")) {
      otherwise = body(Set.of("endif"));
      end();
    }
    return new Syntax.If(line, test, then, otherwise);
  }

  private Statement forStatement(int line) {
    Target target = target();
    in.expectName("in");
    Expression items = in.withoutCondition();
    Optional<Expression> filter =
        in.acceptName("if") ? Optional.of(in.expression()) : Optional.empty();
    if (in.peek().isName("recursive")) {
      throw ChatTemplate.error(line, "recursive loops are not supported");
    }
    in.expect(Kind.BLOCK_END);
    loops++;
    List<Statement> body = body(Set.of("else", "endfor"));
    loops--;
    List<Statement> otherwise = List.of();
    if (end().equals("else")) {
      otherwise = body(Set.of("endfor"));
      end();
    }
    return new Syntax.For(line, target, items, filter, body, otherwise);
  }

  private Statement setStatement(int line) {
    Target target = target();
    if (in.accept("=")) {
      Expression value = in.tuple();
      in.expect(Kind.BLOCK_END);
      return new Syntax.Set(line, target, value);
    }
    List<Syntax.Filter> filters = new ArrayList<>();
    while (in.accept("|")) {
      filters.add(in.filter(new Syntax.Constant("")));
    }
    return new Syntax.Capture(line, Optional.of(target), filters, bodyUntil("endset"));
  }

  private Target target() {
    List<Target> targets = new ArrayList<>();
    boolean bracketed = in.accept("(");
    do {
      String name = in.name();
      targets.add(
          in.accept(".")
              ? new Syntax.AttributeTarget(name, in.name())
              : new Syntax.NameTarget(name));
    } while (in.accept(",") && in.peek().kind() == Kind.NAME);
    if (bracketed) {
      in.expect(")");
    }
    return targets.size() == 1 ? targets.getFirst() : new Syntax.TupleTarget(targets);
  }

  private Statement macro(int line) {
    String name = in.name();
    List<String> parameters = new ArrayList<>();
    List<Optional<Expression>> defaults = new ArrayList<>();
    in.expect("(");
    while (!in.accept(")")) {
      parameters.add(in.name());
      defaults.add(in.accept("=") ? Optional.of(in.expression()) : Optional.empty());
      if (!in.peek().is(")")) {
        in.expect(",");
      }
    }
    int outer = loops;
    loops = 0;
    List<Statement> body = bodyUntil("endmacro");
    loops = outer;
    return new Syntax.Macro(line, name, parameters, defaults, body);
  }
}
