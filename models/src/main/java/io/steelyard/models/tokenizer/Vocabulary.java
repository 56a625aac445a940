package io.steelyard.models.tokenizer;

import io.steelyard.models.ModelException;
import io.steelyard.models.gguf.Metadata;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The tokens of a model file: spelling, bytes and type by id, and the ids by spelling. */
final class Vocabulary {
  private static final int MOST_TOKENS = 1 << 22;
  private static final int LONGEST_TOKEN = 1 << 16;

  private final String[] pieces;
  private final byte[][] bytes;
  private final TokenType[] types;
  private final Map<String, Integer> ids;
  private final ByteIndex index;

  private Vocabulary(String[] pieces, TokenType[] types, Map<String, Integer> ids, boolean spm) {
    this.pieces = pieces;
    this.types = types;
    this.ids = ids;
    bytes = new byte[pieces.length][];
    byte[][] matched = new byte[pieces.length][];
    for (int id = 0; id < pieces.length; id++) {
      String piece = pieces[id];
      byte[] raw = piece.getBytes(StandardCharsets.UTF_8);
      boolean whole =
          switch (types[id]) {
            case CONTROL, USER_DEFINED, UNKNOWN -> true;
            default -> false;
          };
      if (spm) {
        matched[id] = raw;
        bytes[id] = whole ? raw : spelled(piece, types[id], raw);
      } else {
        byte[] decoded = ByteAlphabet.bytes(piece);
        matched[id] = ByteAlphabet.spells(piece) ? decoded : new byte[0];
        bytes[id] = whole ? raw : decoded;
      }
    }
    index = new ByteIndex(matched);
  }

  /**
   * Reads and checks the vocabulary.
   *
   * @param spm whether tokens are spelled as SentencePiece does, else in {@link ByteAlphabet}
   * @throws ModelException if it is missing, too large, or names a token twice
   */
  static Vocabulary of(Metadata metadata, boolean spm) {
    if (!metadata.has("tokenizer.ggml.tokens")) {
      throw new ModelException(
          "the model has no vocabulary (tokenizer.ggml.tokens): it can be run on token ids, but not on text");
    }
    List<String> tokens = metadata.strings("tokenizer.ggml.tokens");
    if (tokens.isEmpty() || tokens.size() > MOST_TOKENS) {
      throw new ModelException(
          "tokenizer.ggml.tokens has %d entries; 1 to %d make sense"
              .formatted(tokens.size(), MOST_TOKENS));
    }
    String[] pieces = tokens.toArray(new String[0]);
    TokenType[] types = types(metadata, pieces.length);
    Map<String, Integer> ids = HashMap.newHashMap(pieces.length);
    for (int id = 0; id < pieces.length; id++) {
      if (pieces[id].length() > LONGEST_TOKEN) {
        throw new ModelException(
            "tokenizer.ggml.tokens[%d] has %d characters; at most %d make sense"
                .formatted(id, pieces[id].length(), LONGEST_TOKEN));
      }
      Integer earlier = pieces[id].isEmpty() ? null : ids.putIfAbsent(pieces[id], id);
      if (earlier != null) {
        throw new ModelException(
            "tokenizer.ggml.tokens[%d] and [%d] are both \"%s\"; a vocabulary names each token once"
                .formatted(earlier, id, shortened(pieces[id])));
      }
    }
    return new Vocabulary(pieces, types, ids, spm);
  }

  private static TokenType[] types(Metadata metadata, int count) {
    TokenType[] types = new TokenType[count];
    int[] numbers =
        metadata.has("tokenizer.ggml.token_type")
            ? metadata.ints("tokenizer.ggml.token_type")
            : new int[0];
    boolean given = metadata.has("tokenizer.ggml.token_type");
    if (given && numbers.length < count) {
      throw new ModelException(
          "tokenizer.ggml.token_type has %d entries for %d tokens; convert the model again"
              .formatted(numbers.length, count));
    }
    for (int id = 0; id < count; id++) {
      types[id] = given ? TokenType.of(numbers[id]) : TokenType.NORMAL;
    }
    return types;
  }

  private static byte[] spelled(String piece, TokenType type, byte[] raw) {
    if (type == TokenType.BYTE && piece.matches("<0x[0-9A-Fa-f]{2}>")) {
      return new byte[] {(byte) Integer.parseInt(piece, 3, 5, 16)};
    }
    return piece.indexOf(SentencePieceEncoder.SPACE) < 0
        ? raw
        : piece.replace(SentencePieceEncoder.SPACE, ' ').getBytes(StandardCharsets.UTF_8);
  }

  int size() {
    return pieces.length;
  }

  String piece(int id) {
    return pieces[id];
  }

  /** The bytes that a token stands for; not to be changed. */
  byte[] bytes(int id) {
    return bytes[id];
  }

  TokenType type(int id) {
    return types[id];
  }

  /** Makes a token a control token, whatever the file says. */
  void makeControl(int id) {
    types[id] = TokenType.CONTROL;
    bytes[id] = pieces[id].getBytes(StandardCharsets.UTF_8);
  }

  /** The id of the token with this spelling, or -1. */
  int idOf(String piece) {
    return ids.getOrDefault(piece, -1);
  }

  /** The id of the token that is matched by these bytes, or -1. */
  int find(byte[] text, int from, int to) {
    return index.find(text, from, to);
  }

  /** A piece short enough for a message. */
  static String shortened(String piece) {
    return piece.length() <= 40 ? piece : piece.substring(0, 40) + "…";
  }
}
