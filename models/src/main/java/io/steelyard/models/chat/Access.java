package io.steelyard.models.chat;

import io.steelyard.models.chat.Value.Callable;
import io.steelyard.models.chat.Value.Fault;
import io.steelyard.models.chat.Value.Loop;
import io.steelyard.models.chat.Value.Namespace;
import io.steelyard.models.chat.Value.Undefined;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What stands after a point or in brackets. */
final class Access {
  private static final int LONGEST_KEY = 4096;

  private Access() {}

  /** {@code of.name}: a method, an attribute, or else an item. */
  static Object attribute(Object of, String name, Budget budget) {
    return switch (Values.defined(of)) {
      case Namespace namespace ->
          namespace.variables().getOrDefault(name, new Undefined(missing(of, name)));
      case Loop loop -> loop(loop, name);
      case String s when Methods.has(s, name) -> method(s, name);
      case List<?> list when Methods.has(list, name) -> method(list, name);
      case Map<?, ?> map when Methods.has(map, name) -> method(map, name);
      case Map<?, ?> map -> item(map, name, budget);
      default -> new Undefined(missing(of, name));
    };
  }

  private static Callable method(Object of, String name) {
    return (given, budget) -> Methods.call(of, name, given, budget);
  }

  private static String missing(Object of, Object name) {
    boolean plain = name instanceof String s ? s.length() <= 100 : name instanceof Long;
    return "'%s object' has no attribute '%s'"
        .formatted(Values.type(of), plain ? name : "of type " + Values.type(name));
  }

  /** {@code of[key]}: an item, or else an attribute. */
  static Object item(Object of, Object key, Budget budget) {
    Values.defined(of);
    if (of instanceof Map<?, ?> map) {
      Object found = Values.mapOf(map).get(key(key));
      return found != null
          ? found
          : key instanceof String s && Methods.has(map, s)
              ? method(map, s)
              : new Undefined(missing(of, key));
    }
    if (key instanceof Long index) {
      if (of instanceof List<?> list) {
        long at = index < 0 ? index + list.size() : index;
        return at >= 0 && at < list.size()
            ? list.get((int) at)
            : new Undefined("the list has no item " + index);
      }
      if (of instanceof String s) {
        int length = (int) Values.length(s, budget);
        long at = index < 0 ? index + length : index;
        return at >= 0 && at < length
            ? Character.toString(s.codePointAt(s.offsetByCodePoints(0, (int) at)))
            : new Undefined("the text has no character " + index);
      }
    }
    return key instanceof String name
        ? attribute(of, name, budget)
        : new Undefined(missing(of, key));
  }

  /** A value as the key of a dict; only what is compared at once can be one. */
  static Object key(Object value) {
    return switch (value) {
      case String s when s.length() <= LONGEST_KEY -> s;
      case Double d when d == Math.rint(d) && Math.abs(d) < 1e15 -> (long) (double) d;
      case Double d -> d;
      case Long l -> l;
      case Boolean b -> b;
      case Value.None n -> n;
      default -> throw new Fault("a value of type " + Values.type(value) + " can't be a key");
    };
  }

  private static Object loop(Loop loop, String name) {
    int index = loop.index();
    int length = loop.items().size();
    return switch (name) {
      case "index" -> (long) index + 1;
      case "index0" -> (long) index;
      case "revindex" -> (long) length - index;
      case "revindex0" -> (long) length - index - 1;
      case "first" -> index == 0;
      case "last" -> index == length - 1;
      case "length" -> (long) length;
      case "depth" -> 1L;
      case "depth0" -> 0L;
      case "previtem" ->
          index > 0 ? loop.items().get(index - 1) : new Undefined("there is no previous item");
      case "nextitem" ->
          index + 1 < length ? loop.items().get(index + 1) : new Undefined("there is no next item");
      case "cycle" ->
          (Callable)
              (given, budget) -> {
                if (given.positional().isEmpty()) {
                  throw new Fault("no items to cycle through");
                }
                return given.positional().get(index % given.positional().size());
              };
      default -> new Undefined("'loop' has no attribute '" + name + "'");
    };
  }

  /** {@code of[from:to:step]} by Python's rules; an absent bound is None. */
  static Object slice(Object of, Object from, Object to, Object step, Budget budget) {
    long stride = step instanceof Value.None ? 1 : Values.integer(step);
    if (stride == 0) {
      throw new Fault("the step of a slice is zero");
    }
    boolean text = Values.defined(of) instanceof String;
    if (!text && !(of instanceof List)) {
      throw new Fault("a value of type " + Values.type(of) + " can't be sliced");
    }
    long length = Values.length(of, budget);
    long first = bound(from, stride > 0 ? 0 : length - 1, length, stride);
    long end = bound(to, stride > 0 ? length : -1, length, stride);
    if (of instanceof String s && stride == 1) {
      int begin = s.offsetByCodePoints(0, (int) Math.min(first, length));
      return end <= first
          ? ""
          : s.substring(begin, s.offsetByCodePoints(begin, (int) (end - first)));
    }
    List<Object> items = Values.items(of, budget);
    List<Object> taken = new ArrayList<>();
    for (long i = first; stride > 0 ? i < end : i > end; i = Math.addExact(i, stride)) {
      budget.step();
      taken.add(items.get((int) i));
    }
    if (!text) {
      return taken;
    }
    StringBuilder joined = new StringBuilder();
    taken.forEach(joined::append);
    return joined.toString();
  }

  private static long bound(Object given, long absent, long length, long stride) {
    if (given instanceof Value.None) {
      return absent;
    }
    long at = Values.integer(given);
    long fromStart = at < 0 ? at + length : at;
    return stride > 0 ? Math.clamp(fromStart, 0L, length) : Math.clamp(fromStart, -1L, length - 1);
  }
}
