package io.steelyard.lab.worker;

import java.time.Duration;

/**
 * How long the coordinator waits before it kills a worker.
 *
 * @param hello from the start of the process until it says who it is
 * @param load for {@code load}
 * @param call for every other call
 * @param close for {@code close} and the end of the process after it
 */
public record Timeouts(Duration hello, Duration load, Duration call, Duration close) {
  /** Generous ones: 30 s, 10 min, 10 min, 2 s. */
  public static final Timeouts DEFAULT =
      new Timeouts(
          Duration.ofSeconds(30),
          Duration.ofMinutes(10),
          Duration.ofMinutes(10),
          Duration.ofSeconds(2));

  /** The same but for the time that a load may take. */
  public Timeouts withLoad(Duration duration) {
    return new Timeouts(hello, duration, call, close);
  }

  /** The same but for the time that any other call may take. */
  public Timeouts withCall(Duration duration) {
    return new Timeouts(hello, load, duration, close);
  }

  /** The same but for the time that closing may take. */
  public Timeouts withClose(Duration duration) {
    return new Timeouts(hello, load, call, duration);
  }

  Duration of(String call) {
    return switch (call) {
      case "hello" -> hello;
      case "load" -> load;
      case "close" -> close;
      default -> this.call;
    };
  }
}
