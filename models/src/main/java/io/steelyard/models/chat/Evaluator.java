package io.steelyard.models.chat;

import io.steelyard.models.ModelException;
import io.steelyard.models.chat.Syntax.Expression;
import io.steelyard.models.chat.Syntax.Statement;
import io.steelyard.models.chat.Value.Callable;
import io.steelyard.models.chat.Value.Fault;
import io.steelyard.models.chat.Value.Given;
import io.steelyard.models.chat.Value.Loop;
import io.steelyard.models.chat.Value.Namespace;
import io.steelyard.models.chat.Value.None;
import io.steelyard.models.chat.Value.Undefined;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Runs a template once. */
final class Evaluator {
  /** How a body ended. */
  private enum Flow {
    ON,
    BREAK,
    CONTINUE
  }

  /** The variables of a loop's pass, a macro's call or the template, and those around it. */
  private record Scope(Map<String, Object> variables, Optional<Scope> outer) {
    Scope inner() {
      return new Scope(new HashMap<>(), Optional.of(this));
    }

    Object find(String name) {
      for (Scope scope = this; ; scope = scope.outer.get()) {
        Object found = scope.variables.get(name);
        if (found != null) {
          return found;
        }
        if (scope.outer.isEmpty()) {
          return new Undefined("'" + name + "' is undefined");
        }
      }
    }
  }

  private final Budget budget = new Budget();
  private int line = 1;

  /**
   * @throws ModelException for anything that the template does wrong, with its line
   */
  String run(List<Statement> template, Map<String, Object> variables) {
    StringBuilder out = new StringBuilder();
    try {
      body(template, new Scope(new HashMap<>(variables), Optional.empty()), out);
    } catch (Fault fault) {
      ModelException error = ChatTemplate.error(line, fault.getMessage());
      error.addSuppressed(fault);
      throw error;
    } catch (ArithmeticException | IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new ModelException(
          ChatTemplate.error(line, "it computes what can't be: " + e.getMessage()).getMessage(), e);
    }
    return out.toString();
  }

  private Flow body(List<Statement> statements, Scope scope, StringBuilder out) {
    budget.enter();
    Flow flow = Flow.ON;
    for (int i = 0; i < statements.size() && flow == Flow.ON; i++) {
      flow = statement(statements.get(i), scope, out);
    }
    budget.leave();
    return flow;
  }

  private Flow statement(Statement statement, Scope scope, StringBuilder out) {
    budget.step();
    line = statement.line();
    switch (statement) {
      case Syntax.Text text -> append(text.text(), out);
      case Syntax.Output output -> append(Values.text(value(output.value(), scope)), out);
      case Syntax.If test -> {
        return body(
            Values.truth(value(test.test(), scope)) ? test.then() : test.otherwise(), scope, out);
      }
      case Syntax.For loop -> {
        return loop(loop, scope, out);
      }
      case Syntax.Set set -> assign(set.target(), value(set.value(), scope), scope);
      case Syntax.Capture capture -> capture(capture, scope, out);
      case Syntax.Macro macro -> scope.variables().put(macro.name(), macro(macro, scope));
      case Syntax.Block block -> {
        return body(block.body(), scope, out);
      }
      case Syntax.Break stop -> {
        return Flow.BREAK;
      }
      case Syntax.Continue on -> {
        return Flow.CONTINUE;
      }
    }
    return Flow.ON;
  }

  private void append(String text, StringBuilder out) {
    budget.make((long) text.length());
    if (out.length() + text.length() > Budget.LONGEST) {
      throw new Fault("it makes a text longer than " + Budget.LONGEST);
    }
    out.append(text);
  }

  private Flow loop(Syntax.For loop, Scope scope, StringBuilder out) {
    List<Object> items = Values.items(value(loop.items(), scope), budget);
    if (loop.filter().isPresent()) {
      List<Object> kept = new ArrayList<>();
      for (Object item : items) {
        budget.step();
        Scope inner = scope.inner();
        assign(loop.target(), item, inner);
        if (Values.truth(value(loop.filter().get(), inner))) {
          kept.add(item);
        }
      }
      items = kept;
    }
    for (int i = 0; i < items.size(); i++) {
      budget.step();
      Scope inner = scope.inner();
      inner.variables().put("loop", new Loop(items, i));
      assign(loop.target(), items.get(i), inner);
      if (body(loop.body(), inner, out) == Flow.BREAK) {
        break;
      }
    }
    return items.isEmpty() ? body(loop.otherwise(), scope.inner(), out) : Flow.ON;
  }

  private void assign(Syntax.Target target, Object value, Scope scope) {
    switch (target) {
      case Syntax.NameTarget name -> scope.variables().put(name.name(), value);
      case Syntax.AttributeTarget attribute -> {
        if (!(scope.find(attribute.namespace()) instanceof Namespace namespace)) {
          throw new Fault("'" + attribute.namespace() + "' is not a namespace");
        }
        namespace.variables().put(attribute.name(), value);
      }
      case Syntax.TupleTarget tuple -> {
        List<Object> items = Values.items(value, budget);
        if (items.size() != tuple.targets().size()) {
          throw new Fault(
              "%d values can't be unpacked into %d names"
                  .formatted(items.size(), tuple.targets().size()));
        }
        for (int i = 0; i < items.size(); i++) {
          assign(tuple.targets().get(i), items.get(i), scope);
        }
      }
    }
  }

  private void capture(Syntax.Capture capture, Scope scope, StringBuilder out) {
    StringBuilder captured = new StringBuilder();
    body(capture.body(), scope.inner(), captured);
    Object value = captured.toString();
    for (Syntax.Filter filter : capture.filters()) {
      value = Filters.apply(filter.name(), value, given(filter.arguments(), scope), budget);
    }
    if (capture.target().isPresent()) {
      assign(capture.target().get(), value, scope);
    } else {
      append(Values.text(value), out);
    }
  }

  private Callable macro(Syntax.Macro macro, Scope scope) {
    return (given, _) -> {
      if (given.positional().size() > macro.parameters().size()) {
        throw new Fault(
            "the macro '%s' takes at most %d arguments"
                .formatted(macro.name(), macro.parameters().size()));
      }
      for (String name : given.named().keySet()) {
        if (!macro.parameters().contains(name)) {
          throw new Fault("the macro '%s' has no argument '%s'".formatted(macro.name(), name));
        }
      }
      int calledFrom = line;
      Scope inner = scope.inner();
      for (int i = 0; i < macro.parameters().size(); i++) {
        String name = macro.parameters().get(i);
        Optional<Object> argument = given.at(i, name);
        Object value =
            argument.isPresent()
                ? argument.get()
                : macro.defaults().get(i).isPresent()
                    ? value(macro.defaults().get(i).get(), inner)
                    : new Undefined("parameter '" + name + "' was not provided");
        inner.variables().put(name, value);
      }
      StringBuilder out = new StringBuilder();
      body(macro.body(), inner, out);
      line = calledFrom;
      return out.toString();
    };
  }

  private Object value(Expression expression, Scope scope) {
    budget.enter();
    Object value = evaluate(expression, scope);
    budget.leave();
    return value;
  }

  private Object evaluate(Expression expression, Scope scope) {
    return switch (expression) {
      case Syntax.Constant constant -> constant.value();
      case Syntax.Name name -> scope.find(name.name());
      case Syntax.ListOf list -> {
        List<Object> items = values(list.items(), scope);
        yield list.tuple() ? new Value.Tuple(items) : items;
      }
      case Syntax.DictOf dict -> {
        Map<Object, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < dict.keys().size(); i++) {
          map.put(Access.key(value(dict.keys().get(i), scope)), value(dict.values().get(i), scope));
        }
        yield map;
      }
      case Syntax.Attribute attribute ->
          Access.attribute(value(attribute.of(), scope), attribute.name(), budget);
      case Syntax.Item item ->
          Access.item(value(item.of(), scope), value(item.key(), scope), budget);
      case Syntax.Slice slice ->
          Access.slice(
              value(slice.of(), scope),
              bound(slice.from(), scope),
              bound(slice.to(), scope),
              bound(slice.step(), scope),
              budget);
      case Syntax.Call call -> call(call, scope);
      case Syntax.Filter filter ->
          Filters.apply(
              filter.name(), value(filter.of(), scope), given(filter.arguments(), scope), budget);
      case Syntax.Test test ->
          Tests.holds(test.name(), value(test.of(), scope), given(test.arguments(), scope), budget);
      case Syntax.Not not -> !Values.truth(value(not.of(), scope));
      case Syntax.Sign sign ->
          Arithmetic.apply(sign.negative() ? "-" : "+", 0L, value(sign.of(), scope), budget);
      case Syntax.Binary binary ->
          Arithmetic.apply(
              binary.operator(), value(binary.left(), scope), value(binary.right(), scope), budget);
      case Syntax.Logical logical -> {
        Object left = value(logical.left(), scope);
        yield Values.truth(left) == logical.and() ? value(logical.right(), scope) : left;
      }
      case Syntax.Comparison comparison -> compare(comparison, scope);
      case Syntax.Conditional conditional -> {
        if (Values.truth(value(conditional.test(), scope))) {
          yield value(conditional.then(), scope);
        }
        yield conditional.otherwise().isPresent()
            ? value(conditional.otherwise().get(), scope)
            : new Undefined("the condition is false and has no 'else'");
      }
    };
  }

  private Object bound(Optional<Expression> expression, Scope scope) {
    return expression.isPresent() ? value(expression.get(), scope) : None.NONE;
  }

  private List<Object> values(List<Expression> expressions, Scope scope) {
    List<Object> values = new ArrayList<>(expressions.size());
    for (Expression expression : expressions) {
      values.add(value(expression, scope));
    }
    return values;
  }

  private Given given(Syntax.Arguments arguments, Scope scope) {
    Map<String, Object> named = new LinkedHashMap<>();
    arguments.named().forEach((name, argument) -> named.put(name, value(argument, scope)));
    return new Given(values(arguments.positional(), scope), named);
  }

  private Object call(Syntax.Call call, Scope scope) {
    Object callee = Values.defined(value(call.callee(), scope));
    if (!(callee instanceof Callable callable)) {
      throw new Fault("a value of type " + Values.type(callee) + " can't be called");
    }
    return callable.call(given(call.arguments(), scope), budget);
  }

  private boolean compare(Syntax.Comparison comparison, Scope scope) {
    Object left = value(comparison.operands().getFirst(), scope);
    for (int i = 0; i < comparison.operators().size(); i++) {
      Object right = value(comparison.operands().get(i + 1), scope);
      boolean holds =
          switch (comparison.operators().get(i)) {
            case "==" -> Values.equal(left, right, budget);
            case "!=" -> !Values.equal(left, right, budget);
            case "in" -> Values.contains(right, left, budget);
            case "not in" -> !Values.contains(right, left, budget);
            case "<" -> Values.compare(left, right, budget) < 0;
            case ">" -> Values.compare(left, right, budget) > 0;
            case "<=" -> Values.compare(left, right, budget) <= 0;
            default -> Values.compare(left, right, budget) >= 0;
          };
      if (!holds) {
        return false;
      }
      left = right;
    }
    return true;
  }
}
