package io.steelyard.lab.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.worker.Wire.Answer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Mutated lines in both directions: each is either served or refused, and nothing else happens. */
class ProtocolFuzzTest {
  private static final long SEED = 20_260_101;

  @TempDir private Path folder;

  @Test
  void aWorkerAnswersEveryMutatedRequestOnceAndGoesOn() throws IOException, WireException {
    fuzzRequests(5_000);
  }

  @Test
  void theCoordinatorReadsOrRefusesEveryMutatedAnswer() {
    fuzzAnswers(5_000);
  }

  @Test
  @Tag("soak")
  void fiftyThousandMutatedLinesInBothDirections() throws IOException, WireException {
    fuzzRequests(50_000);
    fuzzAnswers(50_000);
  }

  private void fuzzRequests(int count) throws IOException, WireException {
    Random random = new Random(SEED);
    List<byte[]> seeds = requests();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    RequestServer server = new RequestServer(TestEngine::new, out);
    byte[] load = Wire.request(1, "load", new LoadRequest("m", 1, 64, "f16", true, Map.of()));
    for (int i = 0; i < count; i++) {
      byte[] line = mutate(seeds.get(random.nextInt(seeds.size())), seeds, random);
      out.reset();
      server.serve(line);
      String[] answers = out.toString(StandardCharsets.UTF_8).split("\n", -1);
      String context =
          "seed " + SEED + ", line " + i + ": " + new String(line, StandardCharsets.UTF_8);
      assertThat(answers.length).as(context).isGreaterThanOrEqualTo(2);
      for (int a = 0; a < answers.length - 1; a++) {
        Answer answer = Wire.parseAnswer(answers[a].getBytes(StandardCharsets.UTF_8));
        assertThat(answer instanceof Answer.Token).as(context).isEqualTo(a < answers.length - 2);
      }
      server.serve(load);
    }
  }

  private void fuzzAnswers(int count) {
    Random random = new Random(SEED);
    List<byte[]> seeds = answers();
    List<Record> reports = WireTest.Messages.REPORTS;
    int read = 0;
    for (int i = 0; i < count; i++) {
      byte[] line = mutate(seeds.get(random.nextInt(seeds.size())), seeds, random);
      try {
        if (Wire.parseAnswer(line) instanceof Answer.Ok ok) {
          RecordCodec.read(
              reports.get(random.nextInt(reports.size())).getClass(), ok.result(), "call");
        }
        read++;
      } catch (WireException e) {
        assertThat(e.getMessage()).as("seed " + SEED + ", line " + i).isNotBlank();
      }
    }
    assertThat(read).isBetween(1, count - 1);
  }

  private List<byte[]> requests() {
    List<byte[]> lines = new ArrayList<>();
    String file = folder.resolve("rows").toString();
    List<String> calls =
        List.of(
            "hello",
            "load",
            "tokenize",
            "logits",
            "prefill",
            "prefill",
            "decode",
            "forward",
            "kernel");
    for (int i = 0; i < calls.size(); i++) {
      Record record =
          calls.get(i).equals("logits")
              ? new Wire.RowsRequest(new int[] {1, 2, 3}, file)
              : WireTest.Messages.REQUESTS.get(i);
      lines.add(Wire.request(i + 1, calls.get(i), record));
    }
    lines.add(Wire.request(20, "decode", DecodeRequest.greedy(new int[] {1, 2}, 4, true)));
    lines.add(
        Wire.request(
            21,
            "decode",
            new DecodeRequest(
                new int[] {1}, 3, DecodeRequest.Sampling.GREEDY, false, true, List.of())));
    lines.add(Wire.request(22, "memory", Wire.Nothing.NOTHING));
    lines.add(Wire.request(23, "reset", Wire.Nothing.NOTHING));
    lines.add(Wire.request(24, "close", Wire.Nothing.NOTHING));
    lines.replaceAll(line -> Arrays.copyOf(line, line.length - 1));
    return lines;
  }

  private static List<byte[]> answers() {
    List<byte[]> lines = new ArrayList<>();
    WireTest.Messages.REPORTS.forEach(report -> lines.add(Wire.ok(1, report, 5)));
    lines.add(Wire.refusal(1, EngineException.Kind.FAILED, "something"));
    lines.add(Wire.token(1, 5));
    return lines;
  }

  /** Flips, cuts, repeats, splices and swaps in awkward numbers. File names stay as they are. */
  private static byte[] mutate(byte[] seed, List<byte[]> seeds, Random random) {
    byte[] line = seed.clone();
    for (int round = random.nextInt(4); round >= 0; round--) {
      int at = random.nextInt(line.length + 1);
      switch (random.nextInt(6)) {
        case 0 -> {
          if (at < line.length) {
            line[at] = (byte) random.nextInt(256);
          }
        }
        case 1 -> line = Arrays.copyOf(line, at);
        case 2 -> line = join(Arrays.copyOf(line, at), seeds.get(random.nextInt(seeds.size())));
        case 3 ->
            line = join(Arrays.copyOf(line, at), Arrays.copyOfRange(line, at / 2, line.length));
        case 4 ->
            line = join(line, "[".repeat(random.nextInt(2_000)).getBytes(StandardCharsets.UTF_8));
        default -> line = replaceNumber(line, random);
      }
    }
    return touchesFiles(line) ? seed : line;
  }

  /** A mutated path must not make the test write to a file that it did not mean. */
  private static boolean touchesFiles(byte[] line) {
    String text = new String(line, StandardCharsets.UTF_8);
    return text.contains("logits") || text.contains("layers");
  }

  private static byte[] replaceNumber(byte[] line, Random random) {
    String[] numbers = {
      "-1",
      "0",
      "2147483648",
      "9223372036854775807",
      "1e308",
      "-0.5",
      "1e-400",
      "null",
      "\"7\"",
      "{}"
    };
    String text = new String(line, StandardCharsets.ISO_8859_1);
    return text.replaceFirst("\\d+", numbers[random.nextInt(numbers.length)])
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  private static byte[] join(byte[] first, byte[] second) {
    byte[] joined = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, joined, first.length, second.length);
    return joined;
  }
}
