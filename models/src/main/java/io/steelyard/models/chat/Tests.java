package io.steelyard.models.chat;

import io.steelyard.models.chat.Value.Callable;
import io.steelyard.models.chat.Value.Fault;
import io.steelyard.models.chat.Value.Given;
import io.steelyard.models.chat.Value.None;
import io.steelyard.models.chat.Value.Undefined;
import java.util.List;
import java.util.Map;

/** What stands after {@code is}. */
final class Tests {
  private Tests() {}

  static boolean holds(String name, Object value, Given given, Budget budget) {
    return switch (name) {
      case "defined" -> !(value instanceof Undefined);
      case "undefined" -> value instanceof Undefined;
      case "none" -> value == None.NONE;
      case "string" -> value instanceof String;
      case "mapping" -> value instanceof Map;
      case "iterable", "sequence" ->
          value instanceof String
              || value instanceof List
              || value instanceof Map
              || value instanceof Undefined;
      case "number" -> Values.isNumber(value);
      case "integer" -> value instanceof Long;
      case "float" -> value instanceof Double;
      case "boolean" -> value instanceof Boolean;
      case "true" -> Boolean.TRUE.equals(value);
      case "false" -> Boolean.FALSE.equals(value);
      case "callable" -> value instanceof Callable;
      case "eq", "equalto" -> Values.equal(value, given.require(0, "other"), budget);
      case "ne" -> !Values.equal(value, given.require(0, "other"), budget);
      case "lt", "lessthan" -> Values.compare(value, given.require(0, "other"), budget) < 0;
      case "le" -> Values.compare(value, given.require(0, "other"), budget) <= 0;
      case "gt", "greaterthan" -> Values.compare(value, given.require(0, "other"), budget) > 0;
      case "ge" -> Values.compare(value, given.require(0, "other"), budget) >= 0;
      case "in" -> Values.contains(given.require(0, "seq"), value, budget);
      case "odd" -> Values.integer(value) % 2 != 0;
      case "even" -> Values.integer(value) % 2 == 0;
      case "divisibleby" -> divides(given.integer(0, "num", 0), Values.integer(value));
      case "lower" -> isCased(budget.made(Values.text(value)), false);
      case "upper" -> isCased(budget.made(Values.text(value)), true);
      case "sameas" -> same(value, given.require(0, "other"), budget);
      default -> throw new Fault("the test '" + name + "' is not supported");
    };
  }

  private static boolean divides(long divisor, long value) {
    if (divisor == 0) {
      throw new Fault("a division by zero");
    }
    return value % divisor == 0;
  }

  private static boolean same(Object value, Object other, Budget budget) {
    return Values.type(value).equals(Values.type(other)) && Values.equal(value, other, budget);
  }

  private static boolean isCased(String text, boolean upper) {
    boolean cased =
        text.codePoints().anyMatch(c -> Character.isUpperCase(c) || Character.isLowerCase(c));
    return cased
        && text.codePoints()
            .noneMatch(c -> upper ? Character.isLowerCase(c) : Character.isUpperCase(c));
  }
}
