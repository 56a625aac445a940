package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * The normalizer and the pre-tokenizer of a {@code tokenizer.json} as the steps that {@link
 * io.steelyard.models.tokenizer.Tokenizer} knows.
 */
final class TokenizerPipeline {
  private static final int DEEPEST = 8;

  private static final Map<String, String> PLAIN_NORMALIZERS =
      Map.of(
          "NFC", "nfc",
          "NFD", "nfd",
          "NFKC", "nfkc",
          "NFKD", "nfkd",
          "Nmt", "nmt",
          "Lowercase", "lowercase",
          "StripAccents", "strip-accents");

  private static final Map<String, String> PLAIN_SPLITTERS =
      Map.of(
          "BertPreTokenizer", "bert",
          "Whitespace", "whitespace",
          "WhitespaceSplit", "whitespace-split");

  private final Path file;
  private final List<String> normalizer = new ArrayList<>();
  private final List<String> splitter = new ArrayList<>();
  private byte[] charsMap = new byte[0];

  /**
   * Reads both.
   *
   * @throws ModelException naming a component that isn't supported
   */
  TokenizerPipeline(Path file, JsonNode tokenizer) {
    this.file = file;
    normalizer(tokenizer.path("normalizer"), 0);
    splitter(tokenizer.path("pre_tokenizer"), 0);
  }

  List<String> normalizer() {
    return normalizer;
  }

  List<String> splitter() {
    return splitter;
  }

  /** SentencePiece's table of replacements; empty if there is none. */
  byte[] charsMap() {
    return charsMap;
  }

  private void normalizer(JsonNode node, int depth) {
    String type = node.path("type").asString("");
    switch (type) {
      case "" -> {}
      case "Sequence" -> {
        requireShallow(depth);
        node.path("normalizers").forEach(each -> normalizer(each, depth + 1));
      }
      case "Strip" ->
          normalizer.add(
              "strip\t%s\t%s"
                  .formatted(
                      node.path("strip_left").asBoolean(false) ? "left" : "",
                      node.path("strip_right").asBoolean(false) ? "right" : ""));
      case "BertNormalizer" -> normalizer.add("bert\t" + bertOptions(node));
      case "Precompiled" -> precompiled(node.path("precompiled_charsmap").asString(""));
      case "Replace" -> replace(node);
      case "Prepend" -> normalizer.add("prepend\t" + argument(node.path("prepend")));
      default -> {
        String step = PLAIN_NORMALIZERS.get(type);
        if (step == null) {
          throw unsupported("normalizer", type);
        }
        normalizer.add(step);
      }
    }
  }

  private static String bertOptions(JsonNode node) {
    boolean lower = node.path("lowercase").asBoolean(true);
    JsonNode accents = node.path("strip_accents");
    List<String> options = new ArrayList<>();
    if (node.path("clean_text").asBoolean(true)) {
      options.add("clean");
    }
    if (node.path("handle_chinese_chars").asBoolean(true)) {
      options.add("ideographs");
    }
    if (accents.isBoolean() ? accents.asBoolean() : lower) {
      options.add("accents");
    }
    if (lower) {
      options.add("lower");
    }
    return String.join(" ", options);
  }

  private void precompiled(String base64) {
    if (base64.isEmpty()) {
      return;
    }
    if (charsMap.length > 0) {
      throw unsupported("normalizer", "Precompiled twice");
    }
    try {
      charsMap = Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException e) {
      throw new ModelException(file + ": its 'precompiled_charsmap' is no Base64", e);
    }
    normalizer.add("charsmap-graphemes");
  }

  private void replace(JsonNode node) {
    JsonNode pattern = node.path("pattern");
    String content = argument(node.path("content"));
    if (pattern.path("String").isString()) {
      normalizer.add("replace\t" + argument(pattern.path("String")) + "\t" + content);
    } else if (pattern.path("Regex").asString("").equals(" {2,}")) {
      normalizer.add("single-spaces\t" + content);
    } else {
      throw unsupported("normalizer", "Replace of " + pattern.path("Regex").asString("?"));
    }
  }

  /** Tabulators part the arguments of a step. */
  private String argument(JsonNode node) {
    String text = node.asString("");
    if (text.indexOf('\t') >= 0) {
      throw unsupported("normalizer", "Replace with a tabulator");
    }
    return text;
  }

  private void splitter(JsonNode node, int depth) {
    String type = node.path("type").asString("");
    switch (type) {
      case "" -> {}
      case "Sequence" -> {
        requireShallow(depth);
        node.path("pretokenizers").forEach(each -> splitter(each, depth + 1));
      }
      case "Punctuation" ->
          splitter.add(
              switch (node.path("behavior").asString("Isolated")) {
                case "Isolated" -> "punctuation";
                case "Contiguous" -> "punctuation-runs";
                default ->
                    throw unsupported(
                        "pre-tokenizer", "Punctuation, " + node.path("behavior").asString("?"));
              });
      case "Digits" ->
          splitter.add(node.path("individual_digits").asBoolean(false) ? "digits" : "numbers");
      case "Metaspace" -> splitter.add(metaspace(node));
      default -> {
        String step = PLAIN_SPLITTERS.get(type);
        if (step == null) {
          throw unsupported("pre-tokenizer", type);
        }
        splitter.add(step);
      }
    }
  }

  private String metaspace(JsonNode node) {
    if (!node.path("replacement").asString("▁").equals("▁")) {
      throw unsupported(
          "pre-tokenizer", "Metaspace with " + node.path("replacement").asString("?"));
    }
    String older = node.path("add_prefix_space").asBoolean(true) ? "always" : "never";
    String prepend = node.path("prepend_scheme").asString(older);
    if (!List.of("always", "first", "never").contains(prepend)) {
      throw unsupported("pre-tokenizer", "Metaspace, prepending " + prepend);
    }
    return "metaspace\t%s\t%s"
        .formatted(prepend, node.path("split").asBoolean(true) ? "split" : "whole");
  }

  private void requireShallow(int depth) {
    if (depth == DEEPEST) {
      throw unsupported("sequence", "more than %d deep".formatted(DEEPEST));
    }
  }

  private ModelException unsupported(String what, String type) {
    return new ModelException(
        "%s: the tokenizer's %s '%s' isn't supported".formatted(file, what, printable(type)));
  }
}
