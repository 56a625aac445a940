package io.steelyard.models.tokenizer;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Tokens that are known by their spelling. Many published files mark them as ordinary text, and
 * name but one of several tokens that end a turn, so the spelling decides as it does in llama.cpp.
 */
final class KnownTokens {
  private static final List<String> ENDS =
      List.of(
          "<|eot_id|>",
          "<|im_end|>",
          "<|end|>",
          "<end_of_turn>",
          "<|endoftext|>",
          "<|end_of_text|>",
          "<|eom_id|>",
          "</s>",
          "<eos>",
          "<EOT>",
          "_<EOT>",
          "[EOT]",
          "[EOS]",
          "<end_of_utterance>",
          "<｜end▁of▁sentence｜>");

  /** What code models write after a completion: padding, or the start of another file. */
  private static final List<String> COMPLETION_ENDS =
      List.of(
          "<|fim_pad|>",
          "<fim-pad>",
          "<fim_pad>",
          "<PAD>",
          "[PAD]",
          "<|fim_repo|>",
          "<|repo_name|>",
          "<fim-repo>",
          "<REPO>",
          "<reponame>",
          "<|file_sep|>");

  private static final List<String> OTHER_CONTROL =
      List.of(
          "<|fim_prefix|>",
          "<fim-prefix>",
          "<fim_prefix>",
          "<PRE>",
          "▁<PRE>",
          "<|fim_suffix|>",
          "<fim-suffix>",
          "<fim_suffix>",
          "<SUF>",
          "▁<SUF>",
          "<|fim_middle|>",
          "<fim-middle>",
          "<fim_middle>",
          "<MID>",
          "▁<MID>");

  private KnownTokens() {}

  /** Marks known control tokens as such. */
  static void makeControl(Vocabulary vocabulary) {
    for (List<String> list : List.of(ENDS, COMPLETION_ENDS, OTHER_CONTROL)) {
      for (String spelling : list) {
        int id = vocabulary.idOf(spelling);
        if (id >= 0) {
          vocabulary.makeControl(id);
        }
      }
    }
  }

  /** The known tokens after which generation ends. */
  static Set<Integer> endsOfGeneration(Vocabulary vocabulary) {
    Set<Integer> ends = new HashSet<>();
    for (List<String> list : List.of(ENDS, COMPLETION_ENDS)) {
      for (String spelling : list) {
        int id = vocabulary.idOf(spelling);
        if (id >= 0) {
          ends.add(id);
        }
      }
    }
    return ends;
  }
}
