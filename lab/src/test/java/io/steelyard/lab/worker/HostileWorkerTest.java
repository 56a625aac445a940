package io.steelyard.lab.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.lab.worker.WorkerException.Kind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Programs that break the protocol, each a line of shell. */
class HostileWorkerTest {
  private static final String HELLO =
      "read line; echo '{\"id\":1,\"ok\":{\"engine\":\"e\",\"version\":\"1\",\"backend\":\"b\","
          + "\"libraries\":[],\"precisions\":[],\"capabilities\":[],\"hosted\":false,\"build\":\"1\"}}'; ";

  private static final Timeouts PATIENT = Timeouts.DEFAULT;
  private static final Timeouts HASTY =
      new Timeouts(
          Duration.ofSeconds(30),
          Duration.ofMillis(300),
          Duration.ofMillis(300),
          Duration.ofMillis(50));

  @TempDir private Path folder;

  @BeforeEach
  void needsLinux() {
    assumeTrue(
        System.getProperty("os.name").equals("Linux"), "not applicable here: workers need Linux");
  }

  private WorkerProcess start(String script, Timeouts timeouts) throws WorkerException {
    WorkerCommand command =
        new WorkerCommand("fake", List.of("/bin/sh", "-c", script), Map.of(), "");
    return WorkerProcess.start(command, folder.resolve("stderr.txt"), folder, timeouts);
  }

  private WorkerException failure(String script, Timeouts timeouts) throws WorkerException {
    try (WorkerProcess worker = start(HELLO + script, timeouts)) {
      WorkerException e = catchThrowableOfType(WorkerException.class, worker::memory);
      assertThat(e).as(script).isNotNull();
      assertThat(Processes.ended(worker.pid())).isTrue();
      return e;
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          read l; echo rubbish; sleep 1000                             | not valid JSON
          read l; echo; sleep 1000                                     | must hold one JSON object
          read l; echo '{"id":1,"ok":{"parts":{}}}'; sleep 1000        | the answer has id 1, not 2
          echo '{"id":2,"event":{"token":1}}'; echo x; sleep 1000      | not valid JSON
          read l; echo '{"id":2,"ok":{}}'; sleep 1000                  | 'memory.parts' is missing
          read l; echo '{"id":2,"ok":{"parts":{"a":"b"}}}'; sleep 1000 | 'memory.parts.a' must be a whole number
          read l; tr '\\0' a < /dev/zero                               | a line is longer than 67108864 bytes
          exec >&-; sleep 1000                                         | it closed its standard output but goes on
          """)
  void whatIsNotTheProtocolEndsTheWorkerAndIsSaid(String script, String message) throws Exception {
    WorkerException e = failure(script, PATIENT);
    assertThat(e.kind()).isEqualTo(Kind.GARBAGE);
    assertThat(e).hasMessageContaining(message).hasMessageContaining("'memory'");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          exit 3                                          | exited with code 3
          read l; echo last words >&2; kill -SEGV $$      | crashed with SIGSEGV
          read l; kill -KILL $$                           | was killed by SIGKILL, perhaps because memory ran out
          read l; printf '{"id":2,"ok":{"par'; exit 0     | exited with code 0
          sleep 1000 & exit 4                             | exited with code 4
          setsid sleep 3 & exit 5                         | exited with code 5
          """)
  void aWorkerThatDiesSaysHowWhateverItsChildrenHoldOpen(String script, String message)
      throws Exception {
    WorkerException e = failure(script, PATIENT);
    assertThat(e.kind()).isEqualTo(Kind.DIED);
    assertThat(e).hasMessageContaining(message).hasMessageContaining("during 'memory'");
    if (script.contains("last words")) {
      assertThat(e).hasMessageContaining("last words");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sleep 1000 | it never reads",
        "trap '' TERM HUP INT; while true; do :; done | it ignores signals and computes",
        "read l; printf '{\"id\":2,'; sleep 1000 | half an answer",
        "while echo '{\"id\":2,\"event\":{\"token\":1}}'; do :; done | events without end"
      })
  void aWorkerThatHangsIsKilledWhenItsTimeIsUp(String script, String why) throws Exception {
    WorkerException e = failure(script, HASTY);
    assertThat(e.kind()).as(why).isEqualTo(Kind.TIMED_OUT);
    assertThat(e).hasMessageContaining("gave no answer to 'memory' in 300 ms");
  }

  @Test
  void aRequestLargerThanAPipeDoesNotHangOnAWorkerThatNeverReads() throws Exception {
    try (WorkerProcess worker = start(HELLO + "sleep 1000", HASTY)) {
      WorkerException e =
          catchThrowableOfType(
              WorkerException.class,
              () -> worker.prefill(new PrefillRequest(new int[1_000_000], 0)));
      assertThat(e.kind()).isEqualTo(Kind.TIMED_OUT);
      assertThat(Processes.ended(worker.pid())).isTrue();
    }
  }

  @Test
  void errorsWithoutEndAreKeptInPart() throws Exception {
    WorkerException e =
        failure("head -c 30000000 /dev/zero | tr '\\0' x >&2; echo the end >&2; exit 3", PATIENT);
    assertThat(e).hasMessageContaining("exited with code 3").hasMessageContaining("the end");
    assertThat(folder.resolve("stderr.txt")).hasSize(1 << 20);
  }

  @Test
  void whatAnEngineSaysCantSteerTheTerminal() throws Exception {
    WorkerException e = failure("printf '\\033[31mred\\007' >&2; exit 3", PATIENT);
    assertThat(e).hasMessageContaining("?[31mred?");
    try (WorkerProcess worker =
        start(
            HELLO
                + """
                read l; printf '%s\\n' '{"id":2,"error":{"kind":"failed","message":"one\\ntwo \\u001b[31m"}}'; read l
                """,
            PATIENT)) {
      WorkerException refused = catchThrowableOfType(WorkerException.class, worker::memory);
      assertThat(refused).hasMessage("one two ?[31m");
    }
  }

  @Test
  void aSlowAnswerIsAnAnswer() throws Exception {
    String script = "read l; sleep 0.2; echo '{\"id\":2,\"ok\":{\"parts\":{\"kv\":7}}}'; read l";
    try (WorkerProcess worker = start(HELLO + script, PATIENT)) {
      Timed<MemoryReport> memory = worker.memory();
      assertThat(memory.value().parts()).containsEntry("kv", 7L);
      assertThat(memory.outsideNanos()).isGreaterThan(150_000_000);
    }
  }

  @Test
  void aFileThatDoesNotHoldItsRowsIsGarbage() throws Exception {
    String script = "read l; echo '{\"id\":2,\"ok\":{\"rows\":2,\"width\":100000000}}'; sleep 1000";
    try (WorkerProcess worker = start(HELLO + script, PATIENT)) {
      WorkerException e =
          catchThrowableOfType(WorkerException.class, () -> worker.logits(new int[] {1, 2}));
      assertThat(e.kind()).isEqualTo(Kind.GARBAGE);
      assertThat(e).hasMessageContaining("its file can't be read");
    }
  }

  @Test
  void aWorkerThatIgnoresCloseIsKilled() throws Exception {
    WorkerProcess worker = start(HELLO + "trap '' TERM; while true; do sleep 1000; done", HASTY);
    worker.close();
    assertThat(Processes.ended(worker.pid())).isTrue();
  }

  @Test
  void aProgramThatDoesNotExistSaysSo() {
    WorkerCommand command = new WorkerCommand("none", List.of("/no/such"), Map.of(), "");
    WorkerException e =
        catchThrowableOfType(
            WorkerException.class,
            () -> WorkerProcess.start(command, folder.resolve("e"), folder, PATIENT));
    assertThat(e).hasMessageContaining("/no/such").hasMessageContaining("No such file");
  }
}
