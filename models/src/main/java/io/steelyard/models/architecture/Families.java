package io.steelyard.models.architecture;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** The families that can be run, by the names that files give them. */
final class Families {
  private static final Map<String, Function<Parts, Decoder>> ALL = new LinkedHashMap<>();

  static {
    ALL.put(Llama.NAME, Llama::of);
    ALL.put(SmolLm3.NAME, SmolLm3::of);
    ALL.put(Gpt2.NAME, Gpt2::of);
    ALL.put(Qwen2.NAME, Qwen2::of);
    ALL.put(Qwen2.DREAM, Qwen2::dream);
    ALL.put(Qwen3.NAME, Qwen3::of);
    ALL.put(Qwen3.MIXTURE, Qwen3::mixture);
    ALL.put(Gemma.SECOND, Gemma::second);
    ALL.put(Gemma.THIRD, Gemma::third);
    ALL.put(Phi3.NAME, Phi3::of);
    ALL.put(Olmo2.NAME, Olmo2::of);
  }

  private Families() {}

  static Map<String, Function<Parts, Decoder>> all() {
    return ALL;
  }
}
