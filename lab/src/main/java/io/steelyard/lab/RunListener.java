package io.steelyard.lab;

/** Told how a run goes on, for a person who watches. Never called while a trial is timed. */
public interface RunListener {
  /** Hears nothing. */
  RunListener NONE =
      new RunListener() {
        @Override
        public void progress(String stage, double share, String detail) {}

        @Override
        public void note(String message) {}
      };

  /**
   * Work goes on.
   *
   * @param stage what is being done: {@code oracle}, {@code parity}, {@code measuring}
   * @param share how much of the stage is done, 0 to 1
   * @param detail the present step, and estimates where there are any
   */
  void progress(String stage, double share, String detail);

  /** Something that a person should know, in one sentence. */
  void note(String message);

  /** Hears one of several equal parts of a stage, and tells this listener of the whole. */
  default RunListener part(int index, int parts) {
    RunListener whole = this;
    return new RunListener() {
      @Override
      public void progress(String stage, double share, String detail) {
        whole.progress(stage, (index + share) / parts, detail);
      }

      @Override
      public void note(String message) {
        whole.note(message);
      }
    };
  }
}
