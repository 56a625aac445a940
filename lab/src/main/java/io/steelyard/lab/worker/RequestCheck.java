package io.steelyard.lab.worker;

import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.LoadReport.Settings;
import java.util.List;

/** What every engine would have to check of a request before it trusts it. */
final class RequestCheck {
  private RequestCheck() {}

  static void load(LoadRequest request) throws EngineException {
    require(request.threads() >= 1, "threads is " + request.threads() + ", must be at least 1");
    require(request.context() >= 1, "context is " + request.context() + ", must be at least 1");
    require(
        List.of("f16", "f32", "q8_0").contains(request.kv()),
        "kv is '" + request.kv() + "', must be f16, f32 or q8_0");
  }

  static void prefill(PrefillRequest request, Settings settings) throws EngineException {
    ids(request.ids(), settings);
    require(
        request.depth() >= 0 && request.depth() < request.ids().length,
        "depth is %d, must be from 0 to %d so that a token is left to time"
            .formatted(request.depth(), request.ids().length - 1));
  }

  static void decode(DecodeRequest request, Settings settings) throws EngineException {
    ids(request.ids(), settings);
    require(request.tokens() >= 1, "tokens is " + request.tokens() + ", must be at least 1");
    // The last generated token is never put into the cache.
    fits((long) request.ids().length + request.tokens() - 1, settings);
  }

  static void forward(ForwardRequest request, Settings settings) throws EngineException {
    require(request.ids().length >= 1, "a forward pass needs at least one sequence");
    int length = request.ids()[0].length;
    for (int i = 0; i < request.ids().length; i++) {
      require(
          request.ids()[i].length == length,
          "sequence %d has %d ids, the first one has %d: all must be of equal length"
              .formatted(i, request.ids()[i].length, length));
      ids(request.ids()[i], settings);
    }
  }

  static void ids(int[] ids, Settings settings) throws EngineException {
    require(ids.length >= 1, "at least one token id is needed");
    fits(ids.length, settings);
    for (int i = 0; i < ids.length; i++) {
      require(ids[i] >= 0 && ids[i] < settings.vocabulary(), ids[i], i, settings.vocabulary());
    }
  }

  private static void fits(long positions, Settings settings) throws EngineException {
    require(
        positions <= settings.context(),
        "the call needs %d positions, the context holds %d: load the model with a longer context"
            .formatted(positions, settings.context()));
  }

  private static void require(boolean holds, int id, int position, int vocabulary)
      throws EngineException {
    if (!holds) {
      throw new EngineException(
          Kind.BAD_REQUEST,
          "token id %d at position %d is outside the vocabulary of %d"
              .formatted(id, position, vocabulary));
    }
  }

  private static void require(boolean holds, String otherwise) throws EngineException {
    if (!holds) {
      throw new EngineException(Kind.BAD_REQUEST, otherwise);
    }
  }
}
