package io.steelyard.reports.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.reports.terminal.ProgressBar.Unit;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ProgressBarTest {

  private static final long SECOND = 1_000_000_000L;

  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private final AtomicLong now = new AtomicLong();

  @Test
  void onATerminalOneLineIsRedrawnAndTakenAway() {
    try (ProgressBar bar = start(true, 80, "downloading", 100_000_000, Unit.BYTES)) {
      now.addAndGet(SECOND);
      bar.update(25_000_000);
    }
    assertThat(text()).doesNotContain("\n").endsWith("\r\u001b[K");
    assertThat(frames())
        .last()
        .isEqualTo("downloading ██░░░░░░░░ 25 % (25.0 MB of 100 MB), 25.0 MB/s, 3.0 s left");
  }

  @Test
  void redrawsAreFewHoweverOftenProgressIsReported() {
    try (ProgressBar bar = start(true, 80, "working", 10_000, Unit.ITEMS)) {
      for (int i = 0; i < 10_000; i++) {
        now.addAndGet(SECOND / 10_000);
        bar.advance(1);
      }
    }
    assertThat(frames().size()).isBetween(10, 12);
  }

  @Test
  void noFrameIsWiderThanTheTerminalLeavesRoomFor() {
    String what = "downloading a model with an exceedingly long name 漢字漢字漢字";
    for (int width : List.of(40, 50, 80)) {
      written.reset();
      try (ProgressBar bar = start(true, width, what, 1000, Unit.ITEMS)) {
        bar.detail("steelyard 350 ± 5 tok/s");
        now.addAndGet(SECOND);
        bar.update(999);
      }
      assertThat(frames())
          .allSatisfy(frame -> assertThat(DisplayWidth.of(frame)).isLessThan(width));
    }
  }

  @Test
  void inALogThereAreFewLinesAndNoEscapes() {
    try (ProgressBar bar = start(false, 80, "measuring", 100, Unit.ITEMS)) {
      for (int i = 1; i <= 100; i++) {
        now.addAndGet(SECOND / 5);
        bar.update(i);
      }
    }
    assertThat(text())
        .isEqualTo(
            """
            measuring
            measuring: 25 % (25 of 100), 15 s left
            measuring: 50 % (50 of 100), 10 s left
            measuring: 75 % (75 of 100), 5.0 s left
            measuring: 100 % (100 of 100)
            measuring: 100 % (100 of 100) in 20 s
            """);
  }

  @Test
  void whereTheTotalIsUnknownTheAmountIsSaid() {
    try (ProgressBar bar = start(false, 80, "reading", 0, Unit.BYTES)) {
      now.addAndGet(6 * SECOND);
      bar.update(12_000_000);
    }
    assertThat(text()).contains("reading: 12.0 MB, 2.00 MB/s\n");
  }

  @Test
  void workThatIsMoreThanExpectedStaysAtItsEnd() {
    try (ProgressBar bar = start(true, 80, "measuring", 10, Unit.ITEMS)) {
      now.addAndGet(SECOND);
      bar.update(15);
    }
    assertThat(frames()).last().asString().contains("100 % (15 of 10)").doesNotContain("left");
  }

  @Test
  void linesAreLoggedAboveTheBar() {
    try (ProgressBar bar = start(true, 80, "measuring", 10, Unit.ITEMS)) {
      bar.log("block 3 was disturbed");
      bar.log("again");
    }
    assertThat(text())
        .contains("\r\u001b[Kblock 3 was disturbed\n\r\u001b[Kmeasuring")
        .contains("\r\u001b[Kagain\n");
  }

  @Test
  void closingTwiceAndReportingAfterwardsIsHarmless() {
    ProgressBar bar = start(true, 80, "measuring", 10, Unit.ITEMS);
    bar.close();
    String before = text();
    bar.close();
    now.addAndGet(SECOND);
    bar.update(3);
    assertThat(text()).isEqualTo(before);
  }

  @Test
  void framesOfManyThreadsDoNotMix() throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    try (ProgressBar bar = start(true, 80, "measuring", 4000, Unit.ITEMS)) {
      for (int t = 0; t < 4; t++) {
        threads.add(
            Thread.ofPlatform()
                .start(
                    () -> {
                      for (int i = 0; i < 1000; i++) {
                        now.addAndGet(SECOND / 5);
                        bar.advance(1);
                      }
                    }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      now.addAndGet(SECOND);
      bar.update(4000);
    }
    assertThat(frames()).allSatisfy(frame -> assertThat(frame).startsWith("measuring "));
    assertThat(frames()).last().asString().contains("100 % (4,000 of 4,000)");
  }

  private ProgressBar start(boolean tty, int width, String what, long total, Unit unit) {
    PrintStream stream = new PrintStream(written, true, StandardCharsets.UTF_8);
    Terminal terminal = new Terminal(stream, tty, new Style(width, tty, true));
    return ProgressBar.withClock(terminal, what, total, unit, now::get);
  }

  private String text() {
    return written.toString(StandardCharsets.UTF_8);
  }

  /** What stood in the line, one element a redraw. */
  private List<String> frames() {
    return List.of(text().split("\r\u001b\\[K", -1)).stream()
        .filter(frame -> !frame.isEmpty())
        .toList();
  }
}
