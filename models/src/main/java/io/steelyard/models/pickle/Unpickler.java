package io.steelyard.models.pickle;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import io.steelyard.models.pickle.Value.Dictionary;
import io.steelyard.models.pickle.Value.Flag;
import io.steelyard.models.pickle.Value.Global;
import io.steelyard.models.pickle.Value.Listing;
import io.steelyard.models.pickle.Value.Nothing;
import io.steelyard.models.pickle.Value.Storage;
import io.steelyard.models.pickle.Value.Text;
import io.steelyard.models.pickle.Value.Tuple;
import io.steelyard.models.pickle.Value.View;
import io.steelyard.models.pickle.Value.Whole;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * Reads a pickle of tensors. It is a machine with a stack, a memo and a fixed list of names; it has
 * no way to call anything. Each length is held against the bytes that are left, each instruction
 * makes one small object at most, and their number has a limit, so memory does too.
 */
final class Unpickler {
  private static final int NEWEST_PROTOCOL = 5;
  private static final int MOST_INSTRUCTIONS = 1 << 20;
  private static final int MOST_DIMENSIONS = 8;

  private static final String REBUILD_TENSOR = "torch._utils._rebuild_tensor_v2";
  private static final String REBUILD_PARAMETER = "torch._utils._rebuild_parameter";
  private static final String ORDERED_DICT = "collections.OrderedDict";

  /** Storages by name, and what safetensors files call their elements. */
  private static final Map<String, String> TYPES =
      Map.of(
          "torch.DoubleStorage", "F64",
          "torch.FloatStorage", "F32",
          "torch.HalfStorage", "F16",
          "torch.BFloat16Storage", "BF16",
          "torch.LongStorage", "I64",
          "torch.IntStorage", "I32",
          "torch.ShortStorage", "I16",
          "torch.CharStorage", "I8",
          "torch.ByteStorage", "U8",
          "torch.BoolStorage", "BOOL");

  private final String source;
  private final ByteBuffer in;
  private final List<Value> stack = new ArrayList<>();
  private final List<Integer> marks = new ArrayList<>();
  private final Map<Integer, Value> memo = new HashMap<>();
  private int at;

  private Unpickler(String source, byte[] pickle) {
    this.source = source;
    this.in = ByteBuffer.wrap(pickle).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * What a pickle describes.
   *
   * @param source what messages call it
   * @throws ModelException if it is damaged or asks for what tensors don't need
   */
  static Value read(String source, byte[] pickle) {
    return new Unpickler(source, pickle).read();
  }

  private Value read() {
    for (int count = 0; count < MOST_INSTRUCTIONS; count++) {
      at = in.position();
      need(1);
      int opcode = in.get() & 0xFF;
      if (opcode == Opcodes.STOP) {
        Value result = pop();
        if (!stack.isEmpty()) {
          throw corrupt("it ends with values left over");
        }
        return result;
      }
      run(opcode);
    }
    throw corrupt("it has more than %d instructions".formatted(MOST_INSTRUCTIONS));
  }

  private void run(int opcode) {
    switch (opcode) {
      case Opcodes.PROTO -> protocol(unsigned(1));
      case Opcodes.FRAME -> number(Long.BYTES);
      case Opcodes.MARK -> marks.add(stack.size());
      case Opcodes.POP -> pop();
      case Opcodes.NONE -> stack.add(Nothing.NOTHING);
      case Opcodes.NEWTRUE -> stack.add(new Flag(true));
      case Opcodes.NEWFALSE -> stack.add(new Flag(false));
      case Opcodes.BININT -> stack.add(new Whole((int) number(Integer.BYTES)));
      case Opcodes.BININT1 -> stack.add(new Whole(unsigned(1)));
      case Opcodes.BININT2 -> stack.add(new Whole(unsigned(2)));
      case Opcodes.LONG1 -> stack.add(longInteger());
      case Opcodes.BINFLOAT -> {
        number(Double.BYTES);
        stack.add(Nothing.NOTHING);
      }
      case Opcodes.BINUNICODE -> stack.add(new Text(text(number(Integer.BYTES) & 0xFFFF_FFFFL)));
      case Opcodes.SHORT_BINUNICODE -> stack.add(new Text(text(unsigned(1))));
      case Opcodes.EMPTY_LIST -> stack.add(new Listing());
      case Opcodes.APPEND -> {
        Value element = pop();
        top(Listing.class, "a list").elements.add(element);
      }
      case Opcodes.APPENDS -> {
        List<Value> elements = sinceMark();
        top(Listing.class, "a list").elements.addAll(elements);
      }
      case Opcodes.EMPTY_TUPLE -> stack.add(new Tuple(List.of()));
      case Opcodes.TUPLE -> stack.add(new Tuple(sinceMark()));
      case Opcodes.TUPLE1 -> stack.add(new Tuple(last(1)));
      case Opcodes.TUPLE2 -> stack.add(new Tuple(last(2)));
      case Opcodes.TUPLE3 -> stack.add(new Tuple(last(3)));
      case Opcodes.EMPTY_DICT -> stack.add(new Dictionary());
      case Opcodes.SETITEM -> setItems(last(2));
      case Opcodes.SETITEMS -> setItems(sinceMark());
      case Opcodes.BINPUT -> memo.put((int) unsigned(1), peek());
      case Opcodes.LONG_BINPUT -> memo.put((int) number(Integer.BYTES), peek());
      case Opcodes.MEMOIZE -> memo.put(memo.size(), peek());
      case Opcodes.BINGET -> stack.add(remembered((int) unsigned(1)));
      case Opcodes.LONG_BINGET -> stack.add(remembered((int) number(Integer.BYTES)));
      case Opcodes.GLOBAL -> {
        String module = line();
        stack.add(global(module, line()));
      }
      case Opcodes.STACK_GLOBAL -> {
        List<Value> names = last(2);
        stack.add(global(string(names.getFirst()), string(names.getLast())));
      }
      case Opcodes.REDUCE -> {
        List<Value> call = last(2);
        stack.add(reduce(call.getFirst(), call.getLast()));
      }
      case Opcodes.BUILD -> build();
      case Opcodes.BINPERSID -> stack.add(storage(pop()));
      default -> throw refused("%s at byte %d".formatted(Opcodes.refused(opcode), at));
    }
  }

  private void protocol(long version) {
    if (version > NEWEST_PROTOCOL) {
      throw corrupt("it is of pickle protocol %d, which there isn't".formatted(version));
    }
  }

  /** One of the few names that a file of tensors needs; it stays a name. */
  private Global global(String module, String name) {
    String whole = module + "." + name;
    boolean known =
        whole.equals(REBUILD_TENSOR)
            || whole.equals(REBUILD_PARAMETER)
            || whole.equals(ORDERED_DICT)
            || TYPES.containsKey(whole);
    if (!known) {
      throw refused("%s at byte %d".formatted(printable(whole), at));
    }
    return new Global(whole);
  }

  private Value reduce(Value function, Value arguments) {
    if (!(function instanceof Global global) || !(arguments instanceof Tuple tuple)) {
      throw corrupt("the call at byte %d is none of a name with arguments".formatted(at));
    }
    List<Value> given = tuple.elements();
    return switch (global.name()) {
      case ORDERED_DICT -> {
        if (!given.isEmpty()) {
          throw corrupt("the dictionary at byte %d has arguments".formatted(at));
        }
        yield new Dictionary();
      }
      case REBUILD_PARAMETER -> {
        if (given.isEmpty()) {
          throw corrupt("the parameter at byte %d has no tensor".formatted(at));
        }
        yield as(View.class, "a tensor", given.getFirst());
      }
      case REBUILD_TENSOR -> view(given);
      default -> throw refused("a call of %s at byte %d".formatted(global.name(), at));
    };
  }

  private View view(List<Value> given) {
    if (given.size() < 4) {
      throw corrupt(
          "the tensor at byte %d lacks its storage, offset, sizes or strides".formatted(at));
    }
    return new View(
        as(Storage.class, "a storage", given.get(0)),
        as(Whole.class, "an offset", given.get(1)).value(),
        sizes(given.get(2)),
        sizes(given.get(3)));
  }

  private long[] sizes(Value value) {
    List<Value> elements = as(Tuple.class, "a tuple of sizes", value).elements();
    if (elements.size() > MOST_DIMENSIONS) {
      throw corrupt(
          "the tensor at byte %d has %d dimensions; at most %d make sense"
              .formatted(at, elements.size(), MOST_DIMENSIONS));
    }
    return elements.stream()
        .mapToLong(element -> as(Whole.class, "a size", element).value())
        .toArray();
  }

  /** A reference to data outside of the pickle: ('storage', type, key, device, elements). */
  private Storage storage(Value reference) {
    List<Value> parts = as(Tuple.class, "a reference to a storage", reference).elements();
    if (parts.size() != 5 || !string(parts.getFirst()).equals("storage")) {
      throw corrupt("the reference at byte %d is none to a storage".formatted(at));
    }
    String name = as(Global.class, "a type of storage", parts.get(1)).name();
    String type = TYPES.get(name);
    if (type == null) {
      throw corrupt("%s at byte %d is no type of storage".formatted(name, at));
    }
    return new Storage(
        type, string(parts.get(2)), as(Whole.class, "a count", parts.get(4)).value());
  }

  /** Attributes of a dictionary, such as PyTorch's versions of modules, are of no interest. */
  private void build() {
    pop();
    top(Dictionary.class, "a dictionary");
  }

  private void setItems(List<Value> items) {
    Dictionary dictionary = top(Dictionary.class, "a dictionary");
    if (items.size() % 2 != 0) {
      throw corrupt("a key without a value stands before byte %d".formatted(at));
    }
    for (int i = 0; i < items.size(); i += 2) {
      dictionary.entries.put(
          as(Text.class, "a key that is a text", items.get(i)).value(), items.get(i + 1));
    }
  }

  private Value remembered(int index) {
    Value value = memo.get(index);
    if (value == null) {
      throw corrupt(
          "byte %d asks for value %s, which was never kept"
              .formatted(at, Integer.toUnsignedString(index)));
    }
    return value;
  }

  private int floor() {
    return marks.isEmpty() ? 0 : marks.getLast();
  }

  private Value peek() {
    if (stack.size() <= floor()) {
      throw corrupt("byte %d needs a value that isn't there".formatted(at));
    }
    return stack.getLast();
  }

  private Value pop() {
    Value value = peek();
    stack.removeLast();
    return value;
  }

  private List<Value> last(int count) {
    if (stack.size() - floor() < count) {
      throw corrupt("byte %d needs %d values that aren't there".formatted(at, count));
    }
    return take(stack.size() - count);
  }

  private List<Value> sinceMark() {
    if (marks.isEmpty()) {
      throw corrupt("byte %d needs a mark that isn't there".formatted(at));
    }
    return take(marks.removeLast());
  }

  private List<Value> take(int from) {
    List<Value> tail = stack.subList(from, stack.size());
    List<Value> taken = List.copyOf(tail);
    tail.clear();
    return taken;
  }

  private <T extends Value> T top(Class<T> type, String wanted) {
    return as(type, wanted, peek());
  }

  private String string(Value value) {
    return as(Text.class, "a text", value).value();
  }

  private <T extends Value> T as(Class<T> type, String wanted, Value value) {
    if (!type.isInstance(value)) {
      throw corrupt("byte %d needs %s and has something else".formatted(at, wanted));
    }
    return type.cast(value);
  }

  private long unsigned(int bytes) {
    need(bytes);
    return bytes == 1 ? in.get() & 0xFF : in.getShort() & 0xFFFF;
  }

  private long number(int bytes) {
    need(bytes);
    return bytes == Integer.BYTES ? in.getInt() : in.getLong();
  }

  private Whole longInteger() {
    int bytes = (int) unsigned(1);
    if (bytes > Long.BYTES) {
      throw corrupt(
          "the number at byte %d has %d bytes; at most 8 make sense".formatted(at, bytes));
    }
    need(bytes);
    long value = 0;
    for (int i = 0; i < bytes; i++) {
      // The last byte carries the sign.
      long part = i == bytes - 1 ? in.get() : in.get() & 0xFF;
      value |= part << (Byte.SIZE * i);
    }
    return new Whole(value);
  }

  private String text(long bytes) {
    need(bytes);
    byte[] text = new byte[(int) bytes];
    in.get(text);
    return new String(text, StandardCharsets.UTF_8);
  }

  private String line() {
    OptionalInt end = OptionalInt.empty();
    for (int i = in.position(); i < in.limit() && end.isEmpty(); i++) {
      if (in.get(i) == '\n') {
        end = OptionalInt.of(i);
      }
    }
    if (end.isEmpty()) {
      throw corrupt("the name at byte %d has no end".formatted(at));
    }
    String line = text(end.getAsInt() - in.position());
    in.get();
    return line;
  }

  private void need(long bytes) {
    if (bytes > in.remaining()) {
      throw corrupt(
          "byte %d needs %d more bytes, where %d are left".formatted(at, bytes, in.remaining()));
    }
  }

  private ModelException refused(String what) {
    return new ModelException(
        "%s: refuses %s: weights need no such thing, it may be a program, and none of it was run; take the model as .safetensors"
            .formatted(source, what));
  }

  private ModelException corrupt(String what) {
    return new ModelException(
        "%s is damaged or no pickle of tensors: %s; fetch it again".formatted(source, what));
  }
}
