package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import io.steelyard.models.tokenizer.TokenType;
import io.steelyard.models.tokenizer.Tokenizer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * What GGUF says of a tokenizer, from {@code tokenizer.json} and {@code tokenizer_config.json};
 * where there is none, from {@code vocab.json} and {@code merges.txt}, or from SentencePiece's
 * {@code tokenizer.model}.
 *
 * <p>Four kinds are read: byte-level BPE, BPE over SentencePiece's pieces with byte fallback,
 * unigram models and WordPiece. Pieces of the second have scores in GGUF where {@code
 * tokenizer.json} has an order of merges; a score here is the place of the first merge that makes
 * the piece, so that the same pairs merge first.
 */
final class TokenizerMetadata {
  private static final int MOST_BYTES = 64 << 20;
  private static final int MOST_SETTINGS_BYTES = 16 << 20;
  private static final int MOST_TOKENS = 1 << 22;
  private static final int MOST_UNUSED = 1 << 16;
  private static final float ADDED_SCORE = -1000;

  /** The spelling of a space in byte-level vocabularies, as merges in text must have it. */
  private static final String BYTE_LEVEL_SPACE = "Ġ";

  private static final String PIECE_SPACE = "▁";

  private static final Map<String, String> SPECIAL =
      Map.of("unk", "unknown", "sep", "seperator", "pad", "padding", "cls", "cls", "mask", "mask");

  private enum Kind {
    BYTE_LEVEL,
    PIECES,
    UNIGRAM,
    WORD_PIECE
  }

  private record Added(int id, String content, boolean special) {}

  private final Path file;
  private final JsonNode tokenizer;
  private final JsonNode model;
  private final JsonNode settings;
  private final CheckpointConfig config;
  private final Optional<SentencePieceModel> sentencePiece;
  private final Kind kind;
  private final Map<Integer, Added> added = new LinkedHashMap<>();
  private final Map<String, Object> values = new LinkedHashMap<>();

  private TokenizerMetadata(
      Path file,
      JsonNode tokenizer,
      Optional<SentencePieceModel> sentencePiece,
      JsonNode settings,
      CheckpointConfig config) {
    this.file = file;
    this.tokenizer = tokenizer;
    this.model = tokenizer.path("model");
    this.settings = settings;
    this.config = config;
    this.sentencePiece = sentencePiece;
    this.kind = kind();
  }

  private Kind kind() {
    if (sentencePiece.isPresent()) {
      return sentencePiece.get().unigram() ? Kind.UNIGRAM : Kind.PIECES;
    }
    String type = model.path("type").asString("BPE");
    return switch (type) {
      case "BPE" -> model.path("byte_fallback").asBoolean(false) ? Kind.PIECES : Kind.BYTE_LEVEL;
      case "Unigram" -> Kind.UNIGRAM;
      case "WordPiece" -> Kind.WORD_PIECE;
      default ->
          throw fault(
              "the tokenizer is of type '%s', which isn't supported; BPE, Unigram and WordPiece are"
                  .formatted(printable(type)));
    };
  }

  /**
   * The metadata of a folder's tokenizer; that there is none where there is neither {@code
   * tokenizer.json} nor {@code tokenizer.model}.
   *
   * @throws ModelException if a file is damaged or the tokenizer of another kind
   */
  static Map<String, Object> of(Path folder, CheckpointConfig config, Family family) {
    Path file = folder.resolve("tokenizer.json");
    Optional<JsonNode> tokenizer = JsonFile.read(file, MOST_BYTES);
    JsonNode settings =
        JsonFile.read(folder.resolve("tokenizer_config.json"), MOST_SETTINGS_BYTES)
            .orElseGet(JsonNodeFactory.instance::objectNode);
    if (tokenizer.isEmpty()) {
      tokenizer = VocabularyFiles.of(folder, settings);
    }
    Optional<SentencePieceModel> sentencePiece =
        tokenizer.isPresent() ? Optional.empty() : SentencePieceModel.of(folder);
    if (tokenizer.isEmpty() && sentencePiece.isEmpty()) {
      return Map.of("tokenizer.ggml.model", "no_vocab");
    }
    TokenizerMetadata metadata =
        new TokenizerMetadata(
            sentencePiece.map(SentencePieceModel::file).orElse(file),
            tokenizer.orElseGet(JsonNodeFactory.instance::objectNode),
            sentencePiece,
            settings,
            config);
    metadata.read(family);
    metadata.chatTemplate(folder);
    return metadata.values;
  }

  private void read(Family family) {
    switch (kind) {
      case BYTE_LEVEL -> {
        values.put("tokenizer.ggml.model", "gpt2");
        values.put("tokenizer.ggml.pre", PreTokenizerName.of(file, tokenizer, model));
      }
      case PIECES -> {
        values.put("tokenizer.ggml.model", "llama");
        values.put("tokenizer.ggml.pre", "default");
      }
      case UNIGRAM -> {
        values.put("tokenizer.ggml.model", "t5");
        values.put("tokenizer.ggml.pre", "default");
        pipeline();
      }
      case WORD_PIECE -> {
        values.put("tokenizer.ggml.model", "bert");
        values.put("tokenizer.ggml.pre", "default");
        values.put(Tokenizer.LONGEST_WORD, longestWord());
        pipeline();
      }
    }
    sentencePiece.ifPresent(this::sentencePieceSteps);
    tokens(family);
    if (kind == Kind.BYTE_LEVEL) {
      values.put("tokenizer.ggml.merges", merges().stream().map(this::written).toList());
    }
    specialIds();
    additions();
  }

  private void pipeline() {
    if (sentencePiece.isPresent()) {
      return;
    }
    TokenizerPipeline pipeline = new TokenizerPipeline(file, tokenizer);
    values.put(Tokenizer.NORMALIZER, pipeline.normalizer());
    values.put(Tokenizer.PRE_TOKENIZER, pipeline.splitter());
    if (pipeline.charsMap().length > 0) {
      values.put("tokenizer.ggml.precompiled_charsmap", pipeline.charsMap());
    }
  }

  private void sentencePieceSteps(SentencePieceModel model) {
    if (!model.normalizer().isEmpty()) {
      values.put(Tokenizer.NORMALIZER, model.normalizer());
    }
    if (model.charsMap().length > 0) {
      values.put("tokenizer.ggml.precompiled_charsmap", model.charsMap());
    }
    values.put("tokenizer.ggml.remove_extra_whitespaces", model.singleSpaces());
  }

  private int longestWord() {
    JsonNode longest = model.path("max_input_chars_per_word");
    return longest.canConvertToInt() && longest.asInt() >= 0 ? longest.asInt() : 100;
  }

  private Map<Integer, String> vocabulary() {
    Map<Integer, String> byId = new HashMap<>();
    if (sentencePiece.isPresent()) {
      sentencePiece.get().pieces().forEach(piece -> byId.put(byId.size(), piece.text()));
      return byId;
    }
    if (kind == Kind.UNIGRAM) {
      for (JsonNode piece : model.path("vocab")) {
        if (piece.size() != 2 || !piece.path(0).isString() || !piece.path(1).isNumber()) {
          throw fault(
              "'vocab' has %s, which is no piece with a score"
                  .formatted(printable(piece.toString())));
        }
        byId.put(byId.size(), piece.path(0).asString());
      }
      return byId;
    }
    for (Map.Entry<String, JsonNode> token : object(model.path("vocab"), "vocab").properties()) {
      String spelled = kind == Kind.WORD_PIECE ? wordPiece(token.getKey()) : token.getKey();
      if (byId.put(id(token.getValue(), token.getKey()), spelled) != null) {
        throw fault("two tokens have the id %s".formatted(token.getValue()));
      }
    }
    return byId;
  }

  /** GGUF marks tokens that begin a word, where BERT's files mark those that go on with one. */
  private String wordPiece(String token) {
    String mark = model.path("continuing_subword_prefix").asString("##");
    if (token.startsWith("[") && token.endsWith("]")) {
      return token;
    }
    return token.startsWith(mark) && !mark.isEmpty() && token.length() > mark.length()
        ? token.substring(mark.length())
        : PIECE_SPACE + token;
  }

  private void tokens(Family family) {
    Map<Integer, String> byId = vocabulary();
    for (JsonNode token : tokenizer.path("added_tokens")) {
      add(token, id(token.path("id"), "added_tokens"));
    }
    settings
        .path("added_tokens_decoder")
        .properties()
        .forEach(token -> add(token.getValue(), decoderId(token.getKey())));
    added.values().forEach(token -> byId.put(token.id(), token.content()));
    int known = 1 + byId.keySet().stream().mapToInt(Integer::intValue).max().orElse(-1);
    int size = config.optionalCount("vocab_size").orElse(known);
    // Gemma 3 has rows of embeddings that no token uses, which llama.cpp leaves out.
    size = family == Family.GEMMA3 ? Math.min(size, known) : size;
    if (known > size || size > MOST_TOKENS) {
      throw fault(
          "the tokenizer has tokens up to %d where the model has %d".formatted(known - 1, size));
    }
    // Far more ids than tokens are no vocabulary, and would cost memory that no file accounts for.
    if (size > 2L * byId.size() + MOST_UNUSED) {
      throw fault(
          "the tokenizer has %d tokens for %d ids; fetch it again".formatted(byId.size(), size));
    }
    String[] tokens = new String[size];
    TokenType[] types = new TokenType[size];
    for (int id = 0; id < size; id++) {
      String token = byId.get(id);
      tokens[id] = token == null ? "[PAD" + id + "]" : spelled(id, token);
      types[id] = token == null ? TokenType.UNUSED : type(id, token);
    }
    values.put("tokenizer.ggml.tokens", List.of(tokens));
    if (sentencePiece.isPresent()) {
      values.put("tokenizer.ggml.scores", sentencePieceScores(size));
    } else if (kind == Kind.PIECES) {
      values.put("tokenizer.ggml.scores", scores(tokens, types));
    } else if (kind == Kind.UNIGRAM) {
      values.put("tokenizer.ggml.scores", unigramScores(size));
    }
    values.put(
        "tokenizer.ggml.token_type", Arrays.stream(types).mapToInt(TokenType::number).toArray());
  }

  private void add(JsonNode token, int id) {
    String content = token.path("content").asString("");
    if (content.isEmpty()) {
      throw fault("the added token %d has no content".formatted(id));
    }
    added.putIfAbsent(id, new Added(id, content, token.path("special").asBoolean(false)));
  }

  private int decoderId(String text) {
    try {
      return id(JsonNodeFactory.instance.numberNode(Integer.parseInt(text)), text);
    } catch (NumberFormatException e) {
      throw fault("'added_tokens_decoder' has the id '%s'".formatted(printable(text)));
    }
  }

  private int id(JsonNode value, String what) {
    if (!value.isIntegralNumber()
        || !value.canConvertToInt()
        || value.asInt() < 0
        || value.asInt() >= MOST_TOKENS) {
      throw fault(
          "the id of '%s' is %s where a whole number below %d is needed"
              .formatted(printable(what), printable(value.toString()), MOST_TOKENS));
    }
    return value.asInt();
  }

  private TokenType type(int id, String token) {
    Added known = added.get(id);
    if (sentencePiece.isPresent() && id < sentencePiece.get().pieces().size()) {
      return TokenType.of(sentencePiece.get().pieces().get(id).type());
    }
    boolean unknown =
        switch (kind) {
          case BYTE_LEVEL -> false;
          case PIECES, WORD_PIECE -> token.equals(model.path("unk_token").asString(""));
          case UNIGRAM -> id == model.path("unk_id").asInt(-1);
        };
    if (unknown) {
      return TokenType.UNKNOWN;
    }
    if (known != null) {
      return known.special() || looksSpecial(token) ? TokenType.CONTROL : TokenType.USER_DEFINED;
    }
    boolean bytes =
        kind == Kind.PIECES
            || (kind == Kind.UNIGRAM && model.path("byte_fallback").asBoolean(false));
    return bytes && token.matches("<0x[0-9A-Fa-f]{2}>") ? TokenType.BYTE : TokenType.NORMAL;
  }

  /** Tokens that steer a model though their files don't mark them; llama.cpp's list. */
  private static boolean looksSpecial(String token) {
    return List.of("<pad>", "<mask>", "<2mass>", "[@BOS@]").contains(token)
        || (token.startsWith("<|") && token.endsWith("|>"))
        || (token.startsWith("<｜") && token.endsWith("｜>"))
        || (token.startsWith("<unused") && token.endsWith(">"));
  }

  private String spelled(int id, String token) {
    return added.containsKey(id) && type(id, token) == TokenType.USER_DEFINED
        ? token.replace(PIECE_SPACE, " ")
        : token;
  }

  /** The two sides of each merge, in order. */
  private List<String[]> merges() {
    List<String[]> merges = new ArrayList<>();
    for (JsonNode merge : model.path("merges")) {
      String[] sides =
          merge.isArray()
              ? new String[] {merge.path(0).asString(""), merge.path(1).asString("")}
              : merge.asString("").split(" ", -1);
      if (sides.length != 2
          || sides[0].isEmpty()
          || sides[1].isEmpty()
          || (merge.isArray() && merge.size() != 2)) {
        throw fault(
            "'merges' has %s, which is no pair of tokens".formatted(printable(merge.toString())));
      }
      merges.add(sides);
    }
    if (merges.isEmpty()) {
      throw fault("the tokenizer has no 'merges'");
    }
    return merges;
  }

  private String written(String[] sides) {
    return sides[0].replace(" ", BYTE_LEVEL_SPACE) + " " + sides[1].replace(" ", BYTE_LEVEL_SPACE);
  }

  private float[] scores(String[] tokens, TokenType[] types) {
    Map<String, Integer> order = new HashMap<>();
    for (String[] sides : merges()) {
      order.putIfAbsent(sides[0] + sides[1], order.size());
    }
    float[] scores = new float[tokens.length];
    int last = order.size();
    for (int id = 0; id < tokens.length; id++) {
      Integer place = order.get(tokens[id]);
      scores[id] =
          switch (types[id]) {
            case NORMAL -> -(place == null ? last++ : place);
            case BYTE -> 0;
            default -> ADDED_SCORE;
          };
    }
    return scores;
  }

  private float[] unigramScores(int size) {
    float[] scores = new float[size];
    Arrays.fill(scores, ADDED_SCORE);
    int id = 0;
    for (JsonNode piece : model.path("vocab")) {
      scores[id++] = (float) piece.path(1).asDouble();
    }
    return scores;
  }

  private float[] sentencePieceScores(int size) {
    float[] scores = new float[size];
    Arrays.fill(scores, ADDED_SCORE);
    int id = 0;
    for (SentencePieceModel.Piece piece : sentencePiece.orElseThrow().pieces()) {
      if (id < size) {
        scores[id++] = piece.score();
      }
    }
    return scores;
  }

  private void specialIds() {
    sentencePiece.ifPresent(this::sentencePieceIds);
    putId("unknown", unknownId());
    if (kind == Kind.WORD_PIECE) {
      // Where GGUF has the tokens that BERT puts around texts.
      tokenOf("cls").ifPresent(id -> values.put("tokenizer.ggml.bos_token_id", id));
    }
    for (String name : new String[] {"bos", "eos"}) {
      OptionalInt id = tokenOf(name);
      (id.isPresent() ? id : config.token(name + "_token_id"))
          .ifPresent(value -> values.put("tokenizer.ggml." + name + "_token_id", value));
    }
    SPECIAL.forEach(
        (name, key) ->
            tokenOf(name)
                .ifPresent(value -> values.put("tokenizer.ggml." + key + "_token_id", value)));
    config
        .token("mask_token_id")
        .ifPresent(value -> values.putIfAbsent("tokenizer.ggml.mask_token_id", value));
  }

  private void sentencePieceIds(SentencePieceModel model) {
    putId("bos", model.bos());
    putId("eos", model.eos());
    putId("unknown", model.unknown());
    putId("padding", model.padding());
  }

  private void putId(String name, int id) {
    if (id >= 0) {
      values.put("tokenizer.ggml." + name + "_token_id", id);
    }
  }

  /** Of the kinds that have one; those of others are special tokens like all. */
  private int unknownId() {
    return switch (kind) {
      case UNIGRAM -> model.path("unk_id").asInt(-1);
      case WORD_PIECE -> {
        JsonNode id = model.path("vocab").path(model.path("unk_token").asString("[UNK]"));
        yield id.asInt(-1);
      }
      case BYTE_LEVEL, PIECES -> -1;
    };
  }

  private OptionalInt tokenOf(String name) {
    JsonNode token = settings.path(name + "_token");
    String content = (token.isObject() ? token.path("content") : token).asString("");
    return added.values().stream()
        .filter(known -> known.content().equals(content))
        .mapToInt(Added::id)
        .findFirst();
  }

  /** Whether texts begin and end with special tokens, and pieces with a space. */
  private void additions() {
    JsonNode given = settings.path("add_bos_token");
    values.put(
        "tokenizer.ggml.add_bos_token",
        given.isBoolean() ? given.asBoolean() : templateBegins().orElse(kind == Kind.PIECES));
    if (settings.path("add_eos_token").isBoolean()) {
      values.put("tokenizer.ggml.add_eos_token", settings.path("add_eos_token").asBoolean());
    }
    if (kind == Kind.PIECES || kind == Kind.UNIGRAM) {
      values.put("tokenizer.ggml.add_space_prefix", prependsSpace());
    }
  }

  /** Whether the template of a single text begins with a special token. */
  private Optional<Boolean> templateBegins() {
    JsonNode processor = tokenizer.path("post_processor");
    List<JsonNode> all = new ArrayList<>(List.of(processor));
    processor.path("processors").forEach(all::add);
    return all.stream()
        .filter(each -> each.path("type").asString("").equals("TemplateProcessing"))
        .map(each -> each.path("single").path(0).has("SpecialToken"))
        .findFirst();
  }

  private boolean prependsSpace() {
    if (sentencePiece.isPresent()) {
      return sentencePiece.get().spacePrefix();
    }
    JsonNode normalizer = tokenizer.path("normalizer");
    List<JsonNode> all = new ArrayList<>(List.of(normalizer, tokenizer.path("pre_tokenizer")));
    normalizer.path("normalizers").forEach(all::add);
    tokenizer.path("pre_tokenizer").path("pretokenizers").forEach(all::add);
    return all.stream()
        .anyMatch(
            each ->
                switch (each.path("type").asString("")) {
                  case "Prepend" -> true;
                  case "Metaspace" ->
                      each.path("add_prefix_space").asBoolean(true)
                          && !each.path("prepend_scheme").asString("").equals("never");
                  default -> false;
                });
  }

  private void chatTemplate(Path folder) {
    JsonNode given = settings.path("chat_template");
    Optional<String> template = Optional.empty();
    if (given.isString()) {
      template = Optional.of(given.asString());
    } else if (given.isArray()) {
      for (JsonNode each : given) {
        if (each.path("name").asString("").equals("default")) {
          template = Optional.of(each.path("template").asString(""));
        }
      }
    } else {
      template = JsonFile.text(folder.resolve("chat_template.jinja"), MOST_SETTINGS_BYTES);
    }
    template.ifPresent(text -> values.put("tokenizer.chat_template", text));
  }

  private JsonNode object(JsonNode node, String name) {
    if (!node.isObject()) {
      throw fault("'%s' is missing or no object".formatted(name));
    }
    return node;
  }

  private ModelException fault(String what) {
    return new ModelException(file + ": " + what);
  }
}
