package io.steelyard.engines.llamacpp;

import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Reads rows of logits; one scan over a copy on the heap, since it is part of the timed loop. */
final class LogitRow {
  private final float[] values;

  LogitRow(int vocabulary) {
    values = new float[vocabulary];
  }

  int vocabulary() {
    return values.length;
  }

  /** Copies a row and lends the copy until the next call. */
  float[] copy(MemorySegment row) {
    MemorySegment.copy(row, ValueLayout.JAVA_FLOAT, 0, values, 0, values.length);
    return values;
  }

  /**
   * The most likely token (ties: lowest id).
   *
   * @throws EngineException if the row holds no number to choose by
   */
  int argmax(MemorySegment row) throws EngineException {
    copy(row);
    int best = 0;
    float most = values[0];
    for (int i = 1; i < values.length; i++) {
      if (values[i] > most) {
        most = values[i];
        best = i;
      }
    }
    if (!Float.isFinite(most)) {
      throw new EngineException(
          Kind.FAILED,
          "llama.cpp computed logits that are no numbers; the model file may be damaged");
    }
    return best;
  }

  /** Gap between the two largest logits; 0 for a tie, infinite for a vocabulary of one. */
  float margin(MemorySegment row) {
    copy(row);
    float first = Float.NEGATIVE_INFINITY;
    float second = Float.NEGATIVE_INFINITY;
    for (float value : values) {
      if (value > first) {
        second = first;
        first = value;
      } else if (value > second) {
        second = value;
      }
    }
    return first - second;
  }
}
