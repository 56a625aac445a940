package io.steelyard.models.synth;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A byte-level BPE vocabulary that is made when it is needed: three control tokens, the 256 bytes
 * in GPT-2's spelling, merges learned from a list of common English words, and {@code <unused_N>}
 * tokens up to the size that the shape asks for. It encodes any text; common English words are one
 * token each.
 *
 * <p>The unused tokens have type normal: engines print nothing for other types, and a random model
 * would seem to write nothing.
 *
 * <p>Source of the method: Sennrich, Haddow, Birch: "Neural machine translation of rare words with
 * subword units", 2016; of the spelling of bytes: GPT-2.
 */
final class SyntheticTokenizer {
  private static final int MOST_MERGES = 512;
  private static final int NORMAL = 1;
  private static final int CONTROL = 3;
  private static final List<String> CONTROLS =
      List.of("<|endoftext|>", "<|im_start|>", "<|im_end|>");
  private static final String SPACE = "Ġ";
  private static final String CHAT_TEMPLATE =
      "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n'"
          + " + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
          + "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

  /** The most frequent words of English, the most frequent first. */
  private static final String WORDS =
      """
      the of and to in is that it was for on are as with be his they at one have this from by had
      word but what some we can out other were all your when up use how said an each which she do
      their time if will way about many then them write would like so these her long make thing see
      him two has look more day could go come did number sound no most people my over know water
      than call first who may down side been now find any new work part take get place made live
      where after back little only round man year came show every good me give our under name very
      through just form sentence great think say help low line differ turn cause much mean before
      move right boy old too same tell does set three want air well also play small end put home
      read hand port large spell add even land here must big high such follow act why ask men
      change went light kind off need house picture try us again animal point mother world near
      build self earth father head stand own page should country found answer school grow study
      still learn plant cover food sun four between state keep eye never last let thought city tree
      cross farm hard start might story saw far sea draw left late run while press close night real
      life few north open seem together next white children begin got walk example ease paper group
      always music those both mark often letter until mile river car feet care second book carry
      took science eat room friend began idea fish mountain stop once base hear horse cut sure watch
      color face wood main enough plain girl usual young ready above ever red list though feel talk
      bird soon body dog family direct pose leave song measure door product black short numeral
      class wind question happen complete ship area half rock order fire south problem piece told
      knew pass since top whole king space heard best hour better true during hundred five remember
      step early hold west ground interest reach fast verb sing listen six table travel less morning
      """;

  private final List<String> tokens = new ArrayList<>();
  private final List<String> merges = new ArrayList<>();
  private final int[] types;

  /**
   * A vocabulary of exactly this size.
   *
   * @throws IllegalArgumentException if not even the bytes fit
   */
  SyntheticTokenizer(int size) {
    tokens.addAll(CONTROLS);
    String[] bytes = byteSpellings();
    Collections.addAll(tokens, bytes);
    if (size < tokens.size()) {
      throw new IllegalArgumentException(
          "a vocabulary of " + size + " can't hold " + tokens.size() + " tokens");
    }
    learnMerges(Math.min(MOST_MERGES, size - tokens.size()));
    for (int i = 0; tokens.size() < size; i++) {
      tokens.add("<unused_" + i + ">");
    }
    types = new int[size];
    for (int i = 0; i < size; i++) {
      types[i] = i < CONTROLS.size() ? CONTROL : NORMAL;
    }
  }

  /** The metadata that describes this tokenizer. */
  Map<String, Object> metadata() {
    Map<String, Object> metadata = new LinkedHashMap<>();
    metadata.put("tokenizer.ggml.model", "gpt2");
    metadata.put("tokenizer.ggml.pre", "gpt-2");
    metadata.put("tokenizer.ggml.tokens", tokens);
    metadata.put("tokenizer.ggml.token_type", types);
    metadata.put("tokenizer.ggml.merges", merges);
    metadata.put("tokenizer.ggml.bos_token_id", 1);
    metadata.put("tokenizer.ggml.eos_token_id", 2);
    metadata.put("tokenizer.ggml.unknown_token_id", 0);
    metadata.put("tokenizer.ggml.padding_token_id", 2);
    metadata.put("tokenizer.ggml.add_bos_token", false);
    metadata.put("tokenizer.ggml.add_space_prefix", false);
    metadata.put("tokenizer.chat_template", CHAT_TEMPLATE);
    return metadata;
  }

  /**
   * GPT-2's printable stand-in for each byte: itself where it is printable Latin-1, else the next
   * free character from U+0100.
   */
  private static String[] byteSpellings() {
    String[] spellings = new String[256];
    int next = 0x100;
    for (int b = 0; b < 256; b++) {
      boolean printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      spellings[b] = Character.toString(printable ? b : next++);
    }
    return spellings;
  }

  private record Pair(String left, String right) implements Comparable<Pair> {
    @Override
    public int compareTo(Pair other) {
      int order = left.compareTo(other.left);
      return order != 0 ? order : right.compareTo(other.right);
    }
  }

  /** Joins the most frequent pair of neighbours, again and again; ties go to the lesser pair. */
  private void learnMerges(int most) {
    Map<List<String>, Long> words = wordsByFrequency();
    while (merges.size() < most) {
      Map<Pair, Long> counts = new HashMap<>();
      words.forEach(
          (symbols, count) -> {
            for (int i = 1; i < symbols.size(); i++) {
              counts.merge(new Pair(symbols.get(i - 1), symbols.get(i)), count, Long::sum);
            }
          });
      if (counts.isEmpty()) {
        return;
      }
      Pair best =
          Collections.max(
                  counts.entrySet(),
                  Map.Entry.<Pair, Long>comparingByValue()
                      .thenComparing(Map.Entry.<Pair, Long>comparingByKey().reversed()))
              .getKey();
      merges.add(best.left() + " " + best.right());
      String joined = best.left() + best.right();
      if (!tokens.contains(joined)) {
        tokens.add(joined);
      }
      words = join(words, best);
    }
  }

  /** Each word with and without a leading space, weighted as by Zipf's law. */
  private static Map<List<String>, Long> wordsByFrequency() {
    Map<List<String>, Long> words = new LinkedHashMap<>();
    String[] list = WORDS.strip().split("\\s+", -1);
    for (int rank = 0; rank < list.length; rank++) {
      List<String> letters = list[rank].chars().mapToObj(Character::toString).toList();
      List<String> spaced = new ArrayList<>(letters);
      spaced.addFirst(SPACE);
      long frequency = 1_000_000 / (rank + 1);
      words.put(spaced, frequency);
      words.put(letters, frequency / 8);
    }
    return words;
  }

  private static Map<List<String>, Long> join(Map<List<String>, Long> words, Pair pair) {
    Map<List<String>, Long> joined = new LinkedHashMap<>();
    words.forEach((symbols, count) -> joined.merge(join(symbols, pair), count, Long::sum));
    return joined;
  }

  private static List<String> join(List<String> symbols, Pair pair) {
    List<String> joined = new ArrayList<>(symbols.size());
    for (int i = 0; i < symbols.size(); i++) {
      if (i + 1 < symbols.size()
          && symbols.get(i).equals(pair.left())
          && symbols.get(i + 1).equals(pair.right())) {
        joined.add(pair.left() + pair.right());
        i++;
      } else {
        joined.add(symbols.get(i));
      }
    }
    return joined;
  }
}
