package io.steelyard.models.chat;

import io.steelyard.models.chat.Value.Fault;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/** The operators between two values. */
final class Arithmetic {
  private Arithmetic() {}

  static Object apply(String operator, Object left, Object right, Budget budget) {
    if (operator.equals("~")) {
      return concatenate(Values.text(left), Values.text(right), budget);
    }
    Values.defined(left);
    Values.defined(right);
    try {
      if (Values.isNumber(left) && Values.isNumber(right)) {
        return Values.areReal(left, right)
                || operator.equals("/")
                || (operator.equals("**") && Values.integer(right) < 0)
            ? (Object) reals(operator, Values.real(left), Values.real(right))
            : (Object) integers(operator, Values.integer(left), Values.integer(right));
      }
    } catch (ArithmeticException e) {
      throw new Fault("an integer goes beyond 64 bits, or a division is by zero");
    }
    if (operator.equals("+") && left instanceof String a && right instanceof String b) {
      return concatenate(a, b, budget);
    }
    if (operator.equals("+") && left instanceof List<?> a && right instanceof List<?> b) {
      budget.makeItems((long) a.size() + b.size());
      List<Object> both = new ArrayList<>(a);
      both.addAll(b);
      return both;
    }
    if (operator.equals("*") && (left instanceof Long || right instanceof Long)) {
      Object repeated = left instanceof Long ? right : left;
      long times = Math.max(0, left instanceof Long l ? l : (Long) right);
      if (repeated instanceof String s) {
        budget.make(saturated(s.length(), times));
        return s.isEmpty() ? s : s.repeat((int) times);
      }
      if (repeated instanceof List<?> list) {
        budget.makeItems(saturated(list.size(), times));
        List<Object> items = new ArrayList<>();
        for (long i = 0; i < times && !list.isEmpty(); i++) {
          items.addAll(list);
        }
        return items;
      }
    }
    throw new Fault(
        "'%s' can't join values of type %s and %s"
            .formatted(operator, Values.type(left), Values.type(right)));
  }

  private static long saturated(long size, long times) {
    return size == 0 ? 0 : times > Budget.LONGEST ? Long.MAX_VALUE : size * times;
  }

  private static String concatenate(String left, String right, Budget budget) {
    budget.make((long) left.length() + right.length());
    return left.concat(right);
  }

  private static double reals(String operator, double a, double b) {
    if (b == 0 && (operator.equals("/") || operator.equals("//") || operator.equals("%"))) {
      throw new ArithmeticException();
    }
    return switch (operator) {
      case "+" -> a + b;
      case "-" -> a - b;
      case "*" -> a * b;
      case "/" -> a / b;
      case "//" -> Math.floor(a / b);
      case "%" -> a - b * Math.floor(a / b);
      default -> Math.pow(a, b);
    };
  }

  private static long integers(String operator, long a, long b) {
    return switch (operator) {
      case "+" -> Math.addExact(a, b);
      case "-" -> Math.subtractExact(a, b);
      case "*" -> Math.multiplyExact(a, b);
      case "//" -> Math.floorDiv(a, b);
      case "%" -> Math.floorMod(a, b);
      default -> {
        if (b < 0 || b > 63) {
          throw new ArithmeticException();
        }
        yield BigInteger.valueOf(a).pow((int) b).longValueExact();
      }
    };
  }
}
