package io.steelyard.models.chat;

import io.steelyard.models.ModelException;
import io.steelyard.models.chat.Syntax.Arguments;
import io.steelyard.models.chat.Syntax.Expression;
import io.steelyard.models.chat.Token.Kind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Expressions, with Jinja's precedence: from the loosest binding to the tightest. */
final class ExpressionParser {
  private static final int DEEPEST = 150;
  private static final Set<String> COMPARISONS = Set.of("==", "!=", "<", ">", "<=", ">=");
  private static final Set<String> NOT_ARGUMENTS =
      Set.of("else", "or", "and", "if", "is", "not", "in");

  private final List<Token> tokens;
  private int at;
  private int depth;

  ExpressionParser(List<Token> tokens) {
    this.tokens = tokens;
  }

  Token peek() {
    return tokens.get(at);
  }

  Token next() {
    Token token = tokens.get(at);
    if (token.kind() != Kind.END) {
      at++;
    }
    return token;
  }

  boolean accept(String operator) {
    boolean there = peek().is(operator);
    if (there) {
      at++;
    }
    return there;
  }

  boolean acceptName(String name) {
    boolean there = peek().isName(name);
    if (there) {
      at++;
    }
    return there;
  }

  void expect(String operator) {
    if (!accept(operator)) {
      throw unexpected("'" + operator + "'");
    }
  }

  void expectName(String name) {
    if (!acceptName(name)) {
      throw unexpected("'" + name + "'");
    }
  }

  void expect(Kind kind) {
    if (peek().kind() != kind) {
      throw unexpected(kind == Kind.BLOCK_END ? "'%}'" : "'}}'");
    }
    at++;
  }

  String name() {
    if (peek().kind() != Kind.NAME) {
      throw unexpected("a name");
    }
    return (String) next().value();
  }

  ModelException unexpected(String wanted) {
    return ChatTemplate.error(
        peek().line(), wanted + " was expected where " + peek().described() + " stands");
  }

  void deeper() {
    if (++depth > DEEPEST) {
      throw ChatTemplate.error(peek().line(), "it is nested more than " + DEEPEST + " deep");
    }
  }

  void shallower() {
    depth--;
  }

  /** An expression, or several with commas between, which make a list. */
  Expression tuple() {
    Expression first = expression();
    if (!peek().is(",")) {
      return first;
    }
    List<Expression> items = new ArrayList<>(List.of(first));
    while (accept(",")) {
      if (peek().is(")") || peek().kind() == Kind.BLOCK_END || peek().kind() == Kind.OUTPUT_END) {
        break;
      }
      items.add(expression());
    }
    return new Syntax.ListOf(items, true);
  }

  /** {@code a if b else c}. */
  Expression expression() {
    deeper();
    Expression value = or();
    while (acceptName("if")) {
      Expression test = or();
      Optional<Expression> otherwise =
          acceptName("else") ? Optional.of(expression()) : Optional.empty();
      value = new Syntax.Conditional(test, value, otherwise);
    }
    shallower();
    return value;
  }

  /** What a loop goes over: the {@code if} after it is the loop's own. */
  Expression withoutCondition() {
    Expression first = or();
    if (!peek().is(",")) {
      return first;
    }
    List<Expression> items = new ArrayList<>(List.of(first));
    while (accept(",")) {
      items.add(or());
    }
    return new Syntax.ListOf(items, true);
  }

  private Expression or() {
    Expression left = and();
    while (acceptName("or")) {
      left = new Syntax.Logical(false, left, and());
    }
    return left;
  }

  private Expression and() {
    Expression left = not();
    while (acceptName("and")) {
      left = new Syntax.Logical(true, left, not());
    }
    return left;
  }

  private Expression not() {
    if (!acceptName("not")) {
      return comparison();
    }
    deeper();
    Expression negated = new Syntax.Not(not());
    shallower();
    return negated;
  }

  private Expression comparison() {
    Expression first = sum();
    List<Expression> operands = new ArrayList<>(List.of(first));
    List<String> operators = new ArrayList<>();
    while (true) {
      Token token = peek();
      if (token.kind() == Kind.OPERATOR && COMPARISONS.contains((String) token.value())) {
        operators.add((String) next().value());
      } else if (acceptName("in")) {
        operators.add("in");
      } else if (token.isName("not") && tokens.get(at + 1).isName("in")) {
        at += 2;
        operators.add("not in");
      } else {
        return operators.isEmpty() ? first : new Syntax.Comparison(operands, operators);
      }
      operands.add(sum());
    }
  }

  private Expression sum() {
    Expression left = concatenation();
    while (peek().is("+") || peek().is("-")) {
      left = new Syntax.Binary((String) next().value(), left, concatenation());
    }
    return left;
  }

  private Expression concatenation() {
    Expression left = product();
    while (accept("~")) {
      left = new Syntax.Binary("~", left, product());
    }
    return left;
  }

  private Expression product() {
    Expression left = power();
    while (peek().is("*") || peek().is("/") || peek().is("//") || peek().is("%")) {
      left = new Syntax.Binary((String) next().value(), left, power());
    }
    return left;
  }

  private Expression power() {
    Expression left = unary(true);
    while (accept("**")) {
      left = new Syntax.Binary("**", left, unary(true));
    }
    return left;
  }

  private Expression unary(boolean filtered) {
    Expression value;
    if (peek().is("-") || peek().is("+")) {
      boolean negative = next().is("-");
      deeper();
      value = new Syntax.Sign(unary(false), negative);
      shallower();
    } else {
      value = postfix(primary());
    }
    return filtered ? filtersAndTests(value) : value;
  }

  private Expression filtersAndTests(Expression first) {
    Expression value = first;
    while (true) {
      if (accept("|")) {
        value = filter(value);
      } else if (acceptName("is")) {
        value = test(value);
      } else if (peek().is("(")) {
        value = new Syntax.Call(value, arguments());
      } else {
        return value;
      }
    }
  }

  /** A filter's name and arguments, after the bar. */
  Syntax.Filter filter(Expression of) {
    String name = name();
    return new Syntax.Filter(of, name, peek().is("(") ? arguments() : Arguments.NONE);
  }

  private Expression test(Expression of) {
    boolean negated = acceptName("not");
    String name = name();
    Arguments arguments = Arguments.NONE;
    Token token = peek();
    boolean bare =
        token.kind() == Kind.STRING
            || token.kind() == Kind.NUMBER
            || token.is("[")
            || token.is("{")
            || (token.kind() == Kind.NAME && !NOT_ARGUMENTS.contains((String) token.value()));
    if (token.is("(")) {
      arguments = arguments();
    } else if (bare) {
      arguments = new Arguments(List.of(postfix(primary())), Map.of());
    }
    Expression test = new Syntax.Test(of, name, arguments);
    return negated ? new Syntax.Not(test) : test;
  }

  private Expression postfix(Expression first) {
    Expression value = first;
    while (true) {
      if (accept(".")) {
        value =
            peek().kind() == Kind.NUMBER
                ? new Syntax.Item(value, new Syntax.Constant(next().value()))
                : new Syntax.Attribute(value, name());
      } else if (accept("[")) {
        value = subscript(value);
      } else if (peek().is("(")) {
        value = new Syntax.Call(value, arguments());
      } else {
        return value;
      }
    }
  }

  private Expression subscript(Expression of) {
    Optional<Expression> from = peek().is(":") ? Optional.empty() : Optional.of(expression());
    if (from.isPresent() && accept("]")) {
      return new Syntax.Item(of, from.get());
    }
    expect(":");
    Optional<Expression> to =
        peek().is(":") || peek().is("]") ? Optional.empty() : Optional.of(expression());
    Optional<Expression> step =
        accept(":") && !peek().is("]") ? Optional.of(expression()) : Optional.empty();
    expect("]");
    return new Syntax.Slice(of, from, to, step);
  }

  private Arguments arguments() {
    expect("(");
    List<Expression> positional = new ArrayList<>();
    Map<String, Expression> named = new LinkedHashMap<>();
    while (!accept(")")) {
      if (peek().kind() == Kind.NAME && tokens.get(at + 1).is("=")) {
        String name = name();
        at++;
        named.put(name, expression());
      } else {
        positional.add(expression());
      }
      if (!peek().is(")")) {
        expect(",");
      }
    }
    return new Arguments(positional, named);
  }

  private Expression primary() {
    Token token = next();
    return switch (token.kind()) {
      case NUMBER -> new Syntax.Constant(token.value());
      case STRING -> {
        StringBuilder text = new StringBuilder((String) token.value());
        while (peek().kind() == Kind.STRING) {
          text.append(next().value());
        }
        yield new Syntax.Constant(text.toString());
      }
      case NAME -> {
        String name = (String) token.value();
        yield switch (name) {
          case "true", "True" -> new Syntax.Constant(true);
          case "false", "False" -> new Syntax.Constant(false);
          case "none", "None" -> new Syntax.Constant(Value.None.NONE);
          default -> new Syntax.Name(name);
        };
      }
      default -> bracketed(token);
    };
  }

  private Expression bracketed(Token token) {
    if (token.is("(")) {
      if (accept(")")) {
        return new Syntax.ListOf(List.of(), true);
      }
      Expression inner = tuple();
      expect(")");
      return inner;
    }
    if (token.is("[")) {
      List<Expression> items = new ArrayList<>();
      while (!accept("]")) {
        items.add(expression());
        if (!peek().is("]")) {
          expect(",");
        }
      }
      return new Syntax.ListOf(items, false);
    }
    if (token.is("{")) {
      List<Expression> keys = new ArrayList<>();
      List<Expression> values = new ArrayList<>();
      while (!accept("}")) {
        keys.add(expression());
        expect(":");
        values.add(expression());
        if (!peek().is("}")) {
          expect(",");
        }
      }
      return new Syntax.DictOf(keys, values);
    }
    if (token.kind() != Kind.END) {
      at--;
    }
    throw unexpected("a value");
  }
}
