package io.steelyard.lab.calibration;

/**
 * The clock that everything is timed with, {@link System#nanoTime}.
 *
 * @param resolutionNanos smallest step that it was seen to make
 * @param overheadNanos time of one reading
 */
public record Clock(double resolutionNanos, double overheadNanos) {
  private static final int READINGS = 2_000_000;

  /** Reads it for some tens of milliseconds. */
  public static Clock measure() {
    long smallest = Long.MAX_VALUE;
    long begin = 0;
    long last = 0;
    // The first round is compiled meanwhile and doesn't count.
    for (int round = 0; round < 2; round++) {
      smallest = Long.MAX_VALUE;
      begin = System.nanoTime();
      last = begin;
      for (int i = 0; i < READINGS; i++) {
        long now = System.nanoTime();
        if (now > last) {
          smallest = Math.min(smallest, now - last);
        }
        last = now;
      }
    }
    return new Clock(smallest, (double) (last - begin) / READINGS);
  }
}
