package io.steelyard.models.safetensors;

import io.steelyard.models.ModelException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A vocabulary as SentencePiece stores it, {@code tokenizer.model}.
 *
 * @param file for messages
 * @param pieces tokens by id
 * @param unigram whether scores are those of a unigram model, else of byte-pair merges
 * @param bos id of the token that begins a text, -1 for none; likewise {@code eos}, {@code unknown}
 *     and {@code padding}
 * @param charsMap table of replacements, empty if text stays as it is
 * @param spacePrefix whether a space is put before a text
 * @param singleSpaces whether several spaces are one, and those at the ends none
 * @see <a
 *     href="https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto">the
 *     message</a>
 */
record SentencePieceModel(
    Path file,
    List<Piece> pieces,
    boolean unigram,
    int bos,
    int eos,
    int unknown,
    int padding,
    byte[] charsMap,
    boolean spacePrefix,
    boolean singleSpaces) {

  private static final List<String> NAMES = List.of("tokenizer.model", "spiece.model");
  private static final int MOST_BYTES = 64 << 20;
  private static final int MOST_PIECES = 1 << 22;
  private static final int UNIGRAM = 1;
  private static final int BYTE_PAIRS = 2;

  /**
   * A token.
   *
   * @param type as GGUF numbers types, which is as SentencePiece does
   */
  record Piece(String text, float score, int type) {}

  /**
   * The vocabulary of a folder.
   *
   * @throws ModelException if it is damaged or of a kind that isn't supported
   */
  static Optional<SentencePieceModel> of(Path folder) {
    for (String name : NAMES) {
      Path file = folder.resolve(name);
      Optional<byte[]> bytes = JsonFile.bytes(file, MOST_BYTES);
      if (bytes.isPresent()) {
        return Optional.of(read(file, bytes.get()));
      }
    }
    return Optional.empty();
  }

  static SentencePieceModel read(Path file, byte[] bytes) {
    try {
      return new Reader(file).read(new Protobuf(ByteBuffer.wrap(bytes)));
    } catch (Protobuf.Malformed e) {
      throw new ModelException(
          "%s is damaged or no SentencePiece model: %s; fetch it again"
              .formatted(file, e.getMessage()),
          e);
    }
  }

  /** The steps by which SentencePiece normalises text, for the tokenizer. */
  List<String> normalizer() {
    List<String> steps = new ArrayList<>();
    if (charsMap.length > 0) {
      steps.add("charsmap");
    }
    if (singleSpaces) {
      steps.add("trim-spaces");
    }
    if (unigram && spacePrefix) {
      steps.add("prepend\t▁");
    }
    if (unigram) {
      steps.add("replace\t \t▁");
    }
    return steps;
  }

  /** Fields have the message's own defaults until they come. */
  private static final class Reader {
    private final Path file;
    private final List<Piece> pieces = new ArrayList<>();
    private long kind = UNIGRAM;
    private int unknown;
    private int bos = 1;
    private int eos = 2;
    private int padding = -1;
    private byte[] charsMap = new byte[0];
    private boolean spacePrefix = true;
    private boolean singleSpaces = true;

    Reader(Path file) {
      this.file = file;
    }

    SentencePieceModel read(Protobuf model) {
      while (model.next()) {
        switch (model.field()) {
          case 1 -> pieces.add(piece(model.message()));
          case 2 -> trainer(model.message());
          case 3 -> normalizer(model.message());
          default -> {} // what the model was tested with
        }
        if (pieces.size() > MOST_PIECES) {
          throw fault("it has more than %d pieces".formatted(MOST_PIECES));
        }
      }
      if (pieces.isEmpty()) {
        throw fault("it has no pieces");
      }
      if (kind != UNIGRAM && kind != BYTE_PAIRS) {
        throw fault(
            "its model is of type %d, where unigram (1) and BPE (2) are read".formatted(kind));
      }
      return new SentencePieceModel(
          file,
          pieces,
          kind == UNIGRAM,
          bos,
          eos,
          unknown,
          padding,
          charsMap,
          spacePrefix,
          singleSpaces);
    }

    private static Piece piece(Protobuf message) {
      String text = "";
      float score = 0;
      int type = 1;
      while (message.next()) {
        switch (message.field()) {
          case 1 -> text = message.text();
          case 2 -> score = message.real();
          case 3 -> type = (int) message.integer();
          default -> {}
        }
      }
      return new Piece(text, score, type);
    }

    private void trainer(Protobuf message) {
      while (message.next()) {
        switch (message.field()) {
          case 3 -> kind = message.integer();
          case 24 -> {
            if (message.flag()) {
              throw fault("it puts spaces at the ends of words, which isn't supported");
            }
          }
          case 40 -> unknown = (int) message.integer();
          case 41 -> bos = (int) message.integer();
          case 42 -> eos = (int) message.integer();
          case 43 -> padding = (int) message.integer();
          default -> {} // how it was trained
        }
      }
    }

    private void normalizer(Protobuf message) {
      while (message.next()) {
        switch (message.field()) {
          case 2 -> charsMap = message.bytes();
          case 3 -> spacePrefix = message.flag();
          case 4 -> singleSpaces = message.flag();
          case 5 -> {
            if (!message.flag()) {
              throw fault("it leaves spaces unescaped, which isn't supported");
            }
          }
          default -> {} // names of rules
        }
      }
    }

    private ModelException fault(String what) {
      return new ModelException("%s: %s".formatted(file, what));
    }
  }
}
