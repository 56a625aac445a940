package io.steelyard.app;

import io.steelyard.lab.record.Json;
import io.steelyard.models.Batch;
import io.steelyard.models.BatchedSequence;
import io.steelyard.models.TextOutput;
import io.steelyard.models.sampling.Sampling;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.ProgressBar;
import io.steelyard.reports.terminal.Terminal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Many prompts in a batch. Answers are printed in the prompts' order, each as soon as it and those
 * before it are there; stopped by Ctrl-C, those that are there.
 */
final class BatchedGeneration {
  /** How long a stopped process waits for the pass to end that it is in. */
  private static final long PATIENCE_SECONDS = 10;

  private final Console console;
  private final boolean json;
  private final Batch batch;
  private final List<Answer> answers = new ArrayList<>();
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean stopped;
  private int printed;

  private record Answer(
      String prompt, int promptTokens, BatchedSequence sequence, TextOutput text) {}

  /**
   * An answer as JSON.
   *
   * @param index of its prompt, from 0
   * @param tokens generated, with the one that ended it
   * @param end {@code stop} for a stop string, {@code end} for a token that ends answers, {@code
   *     length} for the number asked for
   */
  record Line(int index, String prompt, String text, int promptTokens, int tokens, String end) {}

  BatchedGeneration(Console console, boolean json, Batch batch) {
    this.console = console;
    this.json = json;
    this.batch = batch;
  }

  void add(BatchPrompt prompt, int[] ids, Sampling sampling, TextOutput text) {
    BatchedSequence sequence = batch.submit(ids, prompt.tokens(), sampling, text);
    answers.add(new Answer(prompt.prompt(), ids.length, sequence, text));
  }

  void run() {
    Thread stopper = new Thread(this::stop, "steelyard-stop");
    Runtime.getRuntime().addShutdownHook(stopper);
    long start = System.nanoTime();
    try {
      pass();
    } finally {
      print(true);
      summary(System.nanoTime() - start);
      ended.countDown();
    }
    if (!stopped) {
      Runtime.getRuntime().removeShutdownHook(stopper);
    }
  }

  private void pass() {
    if (Terminal.out().interactive()) {
      // The answers themselves say how far it is.
      while (!stopped && batch.step()) {
        print(false);
      }
      return;
    }
    try (ProgressBar bar = console.bar("generating", answers.size(), ProgressBar.Unit.ITEMS)) {
      while (!stopped && batch.step()) {
        bar.update(answers.size() - batch.unfinished());
        print(false);
      }
    }
  }

  private void stop() {
    stopped = true;
    try {
      var _ = ended.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Prints finished answers.
   *
   * @param all also those behind one that isn't finished
   */
  private void print(boolean all) {
    while (printed < answers.size() && (all || answers.get(printed).sequence().done())) {
      Answer answer = answers.get(printed);
      if (answer.sequence().done()) {
        print(printed, answer);
      }
      printed++;
    }
  }

  private void print(int index, Answer answer) {
    String text = answer.text().finish();
    int tokens = answer.sequence().generated().length;
    if (json) {
      String end = answer.text().stopped() ? "stop" : answer.text().ended() ? "end" : "length";
      console.result(
          Json.line(new Line(index, answer.prompt(), text, answer.promptTokens(), tokens, end)));
    } else {
      console.result("[%d] %s".formatted(index + 1, answer.prompt()));
      console.result(text);
      console.blank();
    }
  }

  private void summary(long nanos) {
    long prompts = 0;
    long tokens = 0;
    int finished = 0;
    for (Answer answer : answers) {
      int generated = answer.sequence().generated().length;
      // A prompt without a token yet waits, or is being processed.
      prompts += generated > 0 ? answer.promptTokens() : 0;
      tokens += generated;
      finished += answer.sequence().done() ? 1 : 0;
    }
    console.note(
        "[%s, %s, %d generated, %.1f tok/s with the prompts' processing]"
            .formatted(
                finished == answers.size()
                    ? finished + " prompts"
                    : "stopped: %d of %d prompts finished".formatted(finished, answers.size()),
                Format.count(prompts, "prompt token"),
                tokens,
                tokens * 1e9 / nanos));
  }
}
