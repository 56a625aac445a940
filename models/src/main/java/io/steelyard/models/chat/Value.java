package io.steelyard.models.chat;

import java.util.AbstractList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The kinds of value that Java has no class for. The others are String, Long, Double, Boolean, List
 * and Map.
 */
sealed interface Value {
  /** Python's {@code None}. */
  enum None implements Value {
    NONE
  }

  /** A name, key or attribute that isn't there: prints as nothing, but can't be worked with. */
  record Undefined(String why) implements Value {}

  /** A list that prints with round brackets; all else is as for a list. */
  final class Tuple extends AbstractList<Object> {
    private final List<Object> items;

    Tuple(List<Object> items) {
      this.items = items;
    }

    @Override
    public Object get(int index) {
      return items.get(index);
    }

    @Override
    public int size() {
      return items.size();
    }
  }

  /** Variables that outlive a loop. */
  record Namespace(Map<String, Object> variables) implements Value {
    Namespace() {
      this(new HashMap<>());
    }
  }

  /** The {@code loop} of a loop. */
  record Loop(List<Object> items, int index) implements Value {}

  /** A function, a macro or a method of a value. */
  @FunctionalInterface
  non-sealed interface Callable extends Value {
    Object call(Given given, Budget budget);
  }

  /** What a function, filter or test is given. */
  record Given(List<Object> positional, Map<String, Object> named) {
    static final Given NOTHING = new Given(List.of(), Map.of());

    Optional<Object> at(int index, String name) {
      return index < positional.size() ? Optional.of(positional.get(index)) : named(name);
    }

    Optional<Object> named(String name) {
      return Optional.ofNullable(named.get(name));
    }

    Object at(int index, String name, Object fallback) {
      return at(index, name).orElse(fallback);
    }

    Object require(int index, String name) {
      return at(index, name).orElseThrow(() -> new Fault("the argument '" + name + "' is missing"));
    }

    String string(int index, String name) {
      return Values.string(require(index, name));
    }

    long integer(int index, String name, long fallback) {
      return at(index, name).map(Values::integer).orElse(fallback);
    }

    boolean flag(int index, String name, boolean fallback) {
      return at(index, name).map(Values::truth).orElse(fallback);
    }

    /** The arguments after the first {@code count}. */
    Given without(int count) {
      int skipped = Math.min(count, positional.size());
      return new Given(positional.subList(skipped, positional.size()), named);
    }
  }

  /** Something that a template does wrong; the evaluator adds the line. */
  final class Fault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Fault(String message) {
      super(message, null, false, false);
    }
  }
}
