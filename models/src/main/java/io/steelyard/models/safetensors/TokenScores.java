package io.steelyard.models.safetensors;

import io.steelyard.models.ModelException;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * The scores of tokens. Those of unigram models and of SentencePiece's are in the files. Pieces
 * have scores in GGUF where {@code tokenizer.json} has an order of merges; a score here is the
 * place of the first merge that makes the piece, so that the same pairs merge first.
 */
final class TokenScores {
  private static final float ADDED = -1000;

  private TokenScores() {}

  /**
   * The scores by id; nothing for a kind of tokenizer that has none.
   *
   * @throws ModelException if the files are damaged
   */
  static Optional<float[]> of(TokenizerFiles files, TokenList tokens) {
    if (files.sentencePiece().isPresent()) {
      return Optional.of(sentencePiece(files.sentencePiece().get(), tokens.size()));
    }
    return switch (files.kind()) {
      case PIECES -> Optional.of(byMerges(Merges.of(files), tokens));
      case UNIGRAM -> Optional.of(unigram(files, tokens.size()));
      case BYTE_LEVEL, WORD_PIECE -> Optional.empty();
    };
  }

  private static float[] byMerges(Merges merges, TokenList tokens) {
    Map<String, Integer> places = merges.places();
    float[] scores = new float[tokens.size()];
    int last = places.size();
    for (int id = 0; id < scores.length; id++) {
      Integer place = places.get(tokens.texts()[id]);
      scores[id] =
          switch (tokens.types()[id]) {
            case NORMAL -> -(place == null ? last++ : place);
            case BYTE -> 0;
            default -> ADDED;
          };
    }
    return scores;
  }

  private static float[] unigram(TokenizerFiles files, int size) {
    float[] scores = new float[size];
    Arrays.fill(scores, ADDED);
    int id = 0;
    for (JsonNode piece : files.model().path("vocab")) {
      scores[id++] = (float) piece.path(1).asDouble();
    }
    return scores;
  }

  private static float[] sentencePiece(SentencePieceModel model, int size) {
    float[] scores = new float[size];
    Arrays.fill(scores, ADDED);
    int id = 0;
    for (SentencePieceModel.Piece piece : model.pieces()) {
      if (id < size) {
        scores[id++] = piece.score();
      }
    }
    return scores;
  }
}
