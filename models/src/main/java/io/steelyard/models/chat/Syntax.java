package io.steelyard.models.chat;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The syntax tree of a template. */
final class Syntax {
  private Syntax() {}

  /** What gives a value. */
  sealed interface Expression {}

  record Constant(Object value) implements Expression {}

  record Name(String name) implements Expression {}

  record ListOf(List<Expression> items, boolean tuple) implements Expression {}

  record DictOf(List<Expression> keys, List<Expression> values) implements Expression {}

  record Attribute(Expression of, String name) implements Expression {}

  record Item(Expression of, Expression key) implements Expression {}

  record Slice(
      Expression of, Optional<Expression> from, Optional<Expression> to, Optional<Expression> step)
      implements Expression {}

  record Call(Expression callee, Arguments arguments) implements Expression {}

  record Filter(Expression of, String name, Arguments arguments) implements Expression {}

  record Test(Expression of, String name, Arguments arguments) implements Expression {}

  record Not(Expression of) implements Expression {}

  record Sign(Expression of, boolean negative) implements Expression {}

  record Binary(String operator, Expression left, Expression right) implements Expression {}

  record Logical(boolean and, Expression left, Expression right) implements Expression {}

  /** {@code a < b <= c}: one operator fewer than operands. */
  record Comparison(List<Expression> operands, List<String> operators) implements Expression {}

  record Conditional(Expression test, Expression then, Optional<Expression> otherwise)
      implements Expression {}

  /** What a call is given. */
  record Arguments(List<Expression> positional, Map<String, Expression> named) {
    static final Arguments NONE = new Arguments(List.of(), Map.of());
  }

  /** What does something. */
  sealed interface Statement {
    int line();
  }

  record Text(int line, String text) implements Statement {}

  record Output(int line, Expression value) implements Statement {}

  record If(int line, Expression test, List<Statement> then, List<Statement> otherwise)
      implements Statement {}

  record For(
      int line,
      Target target,
      Expression items,
      Optional<Expression> filter,
      List<Statement> body,
      List<Statement> otherwise)
      implements Statement {}

  record Set(int line, Target target, Expression value) implements Statement {}

  /** {@code {% set x %}…{% endset %}} and, without a target, {@code {% filter f %}}. */
  record Capture(int line, Optional<Target> target, List<Filter> filters, List<Statement> body)
      implements Statement {}

  record Macro(
      int line,
      String name,
      List<String> parameters,
      List<Optional<Expression>> defaults,
      List<Statement> body)
      implements Statement {}

  record Block(int line, List<Statement> body) implements Statement {}

  record Break(int line) implements Statement {}

  record Continue(int line) implements Statement {}

  /** What is assigned to. */
  sealed interface Target {}

  record NameTarget(String name) implements Target {}

  record AttributeTarget(String namespace, String name) implements Target {}

  record TupleTarget(List<Target> targets) implements Target {}
}
