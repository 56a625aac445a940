package io.steelyard.models.catalogue;

import io.steelyard.models.ProgressListener;

/** Hears what a {@link ModelResolver} is doing, to show it to a user. */
public interface ResolveListener {
  /** Listens to nothing. */
  ResolveListener NONE =
      new ResolveListener() {
        @Override
        public void note(String line) {}

        @Override
        public ProgressListener begin(String activity) {
          return ProgressListener.NONE;
        }
      };

  /** One line worth reading: a source that failed, a wait for another process. */
  void note(String line);

  /**
   * A longer piece of work begins.
   *
   * @param activity what it is, such as "downloading model.gguf"
   * @return hears its progress in bytes
   */
  ProgressListener begin(String activity);
}
