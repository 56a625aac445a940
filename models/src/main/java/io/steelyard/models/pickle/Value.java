package io.steelyard.models.pickle;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a pickle of tensors is made of. Values may contain each other, even themselves. */
sealed interface Value {
  /** {@code None}, which stands for whatever isn't looked at too: numbers with a fraction. */
  record Nothing() implements Value {
    static final Nothing NOTHING = new Nothing();
  }

  record Flag(boolean value) implements Value {}

  record Whole(long value) implements Value {}

  record Text(String value) implements Value {}

  record Tuple(List<Value> elements) implements Value {}

  /** A list; it grows, so it is no record. */
  final class Listing implements Value {
    final List<Value> elements = new ArrayList<>();
  }

  /** A dictionary, ordered or not, whose keys are texts. */
  final class Dictionary implements Value {
    final Map<String, Value> entries = new LinkedHashMap<>();
  }

  /** A name that the pickle asks for, one of those that tensors need. */
  record Global(String name) implements Value {}

  /**
   * Where a tensor's elements lie.
   *
   * @param type as safetensors files name it
   * @param key name of the archive's entry
   * @param count elements
   */
  record Storage(String type, String key, long count) implements Value {}

  /** A view of a storage, as it was given: not yet checked. */
  record View(Storage storage, long offset, long[] shape, long[] strides) implements Value {}
}
