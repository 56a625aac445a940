package io.steelyard.models.chat;

import io.steelyard.models.chat.Value.Fault;
import io.steelyard.models.chat.Value.Given;
import io.steelyard.models.chat.Value.None;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;

/** The methods of Python's texts, lists and dicts; those that would change one are refused. */
final class Methods {
  private static final Set<String> OF_STRING =
      Set.of(
          "strip",
          "lstrip",
          "rstrip",
          "split",
          "rsplit",
          "splitlines",
          "startswith",
          "endswith",
          "replace",
          "upper",
          "lower",
          "title",
          "capitalize",
          "find",
          "rfind",
          "index",
          "count",
          "join",
          "format",
          "removeprefix",
          "removesuffix",
          "isdigit",
          "isalpha",
          "isalnum",
          "isspace",
          "isupper",
          "islower");
  private static final Set<String> OF_LIST =
      Set.of(
          "index", "count", "copy", "append", "extend", "insert", "pop", "remove", "reverse",
          "sort", "clear");
  private static final Set<String> OF_DICT =
      Set.of(
          "get",
          "items",
          "keys",
          "values",
          "copy",
          "pop",
          "popitem",
          "update",
          "setdefault",
          "clear");

  private Methods() {}

  static boolean has(Object value, String name) {
    return switch (value) {
      case String s -> OF_STRING.contains(name);
      case List<?> list -> OF_LIST.contains(name);
      case Map<?, ?> map -> OF_DICT.contains(name);
      default -> false;
    };
  }

  static Object call(Object self, String name, Given given, Budget budget) {
    return switch (self) {
      case String s -> ofString(s, name, given, budget);
      case List<?> list -> ofList(list, name, given, budget);
      default -> ofDict(Values.mapOf((Map<?, ?>) self), name, given, budget);
    };
  }

  /** A dict's pairs. */
  static List<Object> items(Object value, Budget budget) {
    if (!(value instanceof Map<?, ?> map)) {
      throw new Fault("a dict is needed where a value of type " + Values.type(value) + " stands");
    }
    budget.makeItems(map.size());
    List<Object> pairs = new ArrayList<>();
    map.forEach((key, item) -> pairs.add(new Value.Tuple(List.of(key, item))));
    return pairs;
  }

  private static Object ofDict(Map<Object, Object> self, String name, Given given, Budget budget) {
    return switch (name) {
      case "get" -> {
        Object found = self.get(Access.key(given.require(0, "key")));
        yield found != null ? found : given.at(1, "default", None.NONE);
      }
      case "items" -> items(self, budget);
      case "keys" -> Values.items(self, budget);
      case "values" -> {
        budget.makeItems(self.size());
        yield new ArrayList<>(self.values());
      }
      case "copy" -> new LinkedHashMap<>(self);
      default -> throw unsafe(name, "dict");
    };
  }

  private static Object ofList(List<?> self, String name, Given given, Budget budget) {
    budget.makeItems(self.size());
    return switch (name) {
      case "index" -> {
        for (int i = 0; i < self.size(); i++) {
          if (Values.equal(self.get(i), given.require(0, "value"), budget)) {
            yield (long) i;
          }
        }
        throw new Fault("the list has no such item");
      }
      case "count" ->
          self.stream().filter(i -> Values.equal(i, given.require(0, "value"), budget)).count();
      case "copy" -> new ArrayList<Object>(self);
      default -> throw unsafe(name, "list");
    };
  }

  private static Fault unsafe(String name, String type) {
    return new Fault("'%s' would change a %s, which a template may not".formatted(name, type));
  }

  private static Object ofString(String self, String name, Given given, Budget budget) {
    budget.make(self.length());
    return switch (name) {
      case "strip" -> strip(self, given, true, true);
      case "lstrip" -> strip(self, given, true, false);
      case "rstrip" -> strip(self, given, false, true);
      case "split" -> split(self, given, budget, false);
      case "rsplit" -> split(self, given, budget, true);
      case "splitlines" -> new ArrayList<Object>(self.lines().toList());
      case "startswith" -> fixed(self, given, budget, true);
      case "endswith" -> fixed(self, given, budget, false);
      case "replace" -> replace(self, given, budget);
      case "upper" -> self.toUpperCase(Locale.ROOT);
      case "lower" -> self.toLowerCase(Locale.ROOT);
      case "title" -> title(self);
      case "capitalize" ->
          self.isEmpty()
              ? self
              : self.substring(0, self.offsetByCodePoints(0, 1)).toUpperCase(Locale.ROOT)
                  + self.substring(self.offsetByCodePoints(0, 1)).toLowerCase(Locale.ROOT);
      case "find" -> codePoints(self, self.indexOf(given.string(0, "sub")));
      case "rfind" -> codePoints(self, self.lastIndexOf(given.string(0, "sub")));
      case "index" -> {
        int at = self.indexOf(given.string(0, "sub"));
        if (at < 0) {
          throw new Fault("the text has no such part");
        }
        yield codePoints(self, at);
      }
      case "count" -> count(self, given.string(0, "sub"));
      case "join" ->
          Filters.apply(
              "join", given.require(0, "iterable"), new Given(List.of(self), Map.of()), budget);
      case "format" -> format(self, given, budget);
      case "removeprefix" -> {
        String prefix = given.string(0, "prefix");
        yield self.startsWith(prefix) ? self.substring(prefix.length()) : self;
      }
      case "removesuffix" -> {
        String suffix = given.string(0, "suffix");
        yield self.endsWith(suffix) ? self.substring(0, self.length() - suffix.length()) : self;
      }
      case "isdigit" -> all(self, Character::isDigit);
      case "isalpha" -> all(self, Character::isLetter);
      case "isalnum" -> all(self, Character::isLetterOrDigit);
      case "isspace" -> all(self, Methods::isSpace);
      case "isupper" -> Tests.holds("upper", self, Given.NOTHING, budget);
      case "islower" -> Tests.holds("lower", self, Given.NOTHING, budget);
      default -> throw new Fault("texts have no method '" + name + "'");
    };
  }

  private static boolean all(String text, IntPredicate property) {
    return !text.isEmpty() && text.codePoints().allMatch(property);
  }

  private static boolean isSpace(int c) {
    return Character.isWhitespace(c) || Character.isSpaceChar(c) || c == 0x85;
  }

  private static String strip(String self, Given given, boolean left, boolean right) {
    Object set = given.at(0, "chars", None.NONE);
    IntPredicate stripped =
        set == None.NONE ? Methods::isSpace : c -> Values.string(set).indexOf(c) >= 0;
    int from = 0;
    int to = self.length();
    while (left && from < to && stripped.test(self.codePointAt(from))) {
      from += Character.charCount(self.codePointAt(from));
    }
    while (right && to > from && stripped.test(self.codePointBefore(to))) {
      to -= Character.charCount(self.codePointBefore(to));
    }
    return self.substring(from, to);
  }

  private static List<Object> split(String self, Given given, Budget budget, boolean fromRight) {
    long most = given.integer(1, "maxsplit", -1);
    Object separator = given.at(0, "sep", None.NONE);
    List<Object> parts = new ArrayList<>();
    if (separator == None.NONE) {
      return words(self, most, budget);
    }
    String by = Values.string(separator);
    if (by.isEmpty()) {
      throw new Fault("a text can't be split at nothing");
    }
    if (fromRight) {
      int end = self.length();
      for (int at;
          (most < 0 || parts.size() < most)
              && (at = self.lastIndexOf(by, end - by.length())) >= 0; ) {
        budget.makeItems(4);
        parts.addFirst(self.substring(at + by.length(), end));
        end = at;
      }
      parts.addFirst(self.substring(0, end));
      return parts;
    }
    int from = 0;
    for (int at; (most < 0 || parts.size() < most) && (at = self.indexOf(by, from)) >= 0; ) {
      add(parts, budget, self.substring(from, at));
      from = at + by.length();
    }
    add(parts, budget, self.substring(from));
    return parts;
  }

  /** The parts between white space, of which the last may hold some if there are many. */
  private static List<Object> words(String self, long most, Budget budget) {
    List<Object> words = new ArrayList<>();
    String text = strip(self, Given.NOTHING, true, true);
    int from = 0;
    while (from < text.length() && (most < 0 || words.size() < most)) {
      int end = from;
      while (end < text.length() && !isSpace(text.charAt(end))) {
        end++;
      }
      add(words, budget, text.substring(from, end));
      from = end;
      while (from < text.length() && isSpace(text.charAt(from))) {
        from++;
      }
    }
    if (from < text.length()) {
      add(words, budget, text.substring(from));
    }
    return words;
  }

  private static void add(List<Object> parts, Budget budget, String part) {
    budget.makeItems(4); // a text of its own
    parts.add(part);
  }

  private static boolean fixed(String self, Given given, Budget budget, boolean start) {
    String text = self;
    if (given.positional().size() > 1) {
      Object end = given.at(2, "end", None.NONE);
      text = (String) Access.slice(self, given.require(1, "start"), end, 1L, budget);
    }
    return fixed(text, given.require(0, "prefix"), start);
  }

  private static boolean fixed(String self, Object affix, boolean start) {
    List<Object> any = affix instanceof List<?> list ? Values.listOf(list) : List.of(affix);
    return any.stream()
        .map(Values::string)
        .anyMatch(each -> start ? self.startsWith(each) : self.endsWith(each));
  }

  private static String replace(String self, Given given, Budget budget) {
    String old = given.string(0, "old");
    String young = given.string(1, "new");
    long most = given.integer(2, "count", -1);
    StringBuilder made = new StringBuilder();
    int from = 0;
    int search = 0;
    for (long n = 0; most < 0 || n < most; n++) {
      int at = search > self.length() ? -1 : self.indexOf(old, search);
      if (at < 0) {
        break;
      }
      budget.make(young.length());
      made.append(self, from, at).append(young);
      if (made.length() > Budget.LONGEST) {
        throw new Fault("it makes a text longer than " + Budget.LONGEST);
      }
      from = at + old.length();
      search = old.isEmpty() ? from + 1 : from;
    }
    return made.append(self, from, self.length()).toString();
  }

  private static String title(String self) {
    StringBuilder titled = new StringBuilder();
    boolean inWord = false;
    for (int c : self.codePoints().toArray()) {
      titled.appendCodePoint(inWord ? Character.toLowerCase(c) : Character.toTitleCase(c));
      inWord = Character.isLetter(c);
    }
    return titled.toString();
  }

  private static long codePoints(String self, int index) {
    return index < 0 ? -1 : self.codePointCount(0, index);
  }

  private static long count(String self, String part) {
    if (part.isEmpty()) {
      return (long) self.codePointCount(0, self.length()) + 1;
    }
    long count = 0;
    for (int at = 0; (at = self.indexOf(part, at)) >= 0; at += part.length()) {
      count++;
    }
    return count;
  }

  /** {@code '{} {0} {name}'.format(…)}, without format specifications. */
  private static String format(String self, Given given, Budget budget) {
    StringBuilder made = new StringBuilder();
    int automatic = 0;
    for (int i = 0; i < self.length(); i++) {
      char c = self.charAt(i);
      boolean doubled = i + 1 < self.length() && self.charAt(i + 1) == c;
      if ((c == '{' || c == '}') && doubled) {
        made.append(c);
        i++;
      } else if (c == '{') {
        int end = self.indexOf('}', i);
        String field = end < 0 ? "" : self.substring(i + 1, end);
        if (end < 0 || !field.matches("\\w*")) {
          throw new Fault("the format '" + self + "' is not supported");
        }
        int index =
            field.isEmpty()
                ? automatic++
                : field.matches("\\d{1,3}") ? Integer.parseInt(field) : 1000;
        String text = Values.text(given.require(index, field));
        budget.make(text.length());
        made.append(text);
        i = end;
      } else {
        made.append(c);
      }
      if (made.length() > Budget.LONGEST) {
        throw new Fault("it makes a text longer than " + Budget.LONGEST);
      }
    }
    return made.toString();
  }
}
