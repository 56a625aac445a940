package io.steelyard.lab.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.lab.worker.Wire.Answer;
import io.steelyard.lab.worker.Wire.Request;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WireTest {
  private static final int[] IDS = {0, 1, Integer.MAX_VALUE};

  @Test
  void everyRequestReadsBackAsItWasWritten() throws WireException {
    for (Record record : Messages.REQUESTS) {
      byte[] line = Wire.request(7, "call", record);
      Request request = Wire.parseRequest(Json.parse(line));
      assertThat(request.id()).isEqualTo(7);
      assertThat(request.call()).isEqualTo("call");
      assertThat(request.parameters(record.getClass()))
          .usingRecursiveComparison()
          .isEqualTo(record);
    }
  }

  @Test
  void everyReportReadsBackAsItWasWritten() throws WireException {
    for (Record record : Messages.REPORTS) {
      Answer answer = Wire.parseAnswer(Wire.ok(9, record, 0));
      assertThat(answer).isInstanceOf(Answer.Ok.class);
      Record back = RecordCodec.read(record.getClass(), ((Answer.Ok) answer).result(), "call");
      assertThat(back).usingRecursiveComparison().isEqualTo(record);
    }
  }

  @Test
  void requestsLookAsTheProtocolSays() {
    String line = text(Wire.request(3, "decode", DecodeRequest.greedy(new int[] {5, 6}, 2, true)));
    assertThat(line)
        .isEqualTo(
            "{\"id\":3,\"call\":\"decode\",\"ids\":[5,6],\"tokens\":2,\"sampling\":"
                + "{\"temperature\":0.0,\"top_k\":0,\"typical\":1.0,\"top_p\":1.0,\"min_p\":0.0,"
                + "\"penalties\":{\"repeat\":1.0,\"last\":0,\"frequency\":0.0,\"presence\":0.0},"
                + "\"seed\":0},"
                + "\"margins\":true,\"stream\":false,\"stop\":[]}\n");
    assertThat(text(Wire.ok(4, new PrefillReport(12, 5), 0)))
        .isEqualTo("{\"id\":4,\"ok\":{\"nanos\":12,\"argmax\":5}}\n");
    assertThat(text(Wire.refusal(5, EngineException.Kind.BAD_REQUEST, "a \"word\"\nand more")))
        .isEqualTo(
            "{\"id\":5,\"error\":{\"kind\":\"bad-request\",\"message\":\"a \\\"word\\\"\\nand more\"}}\n");
    assertThat(text(Wire.token(6, 11))).isEqualTo("{\"id\":6,\"event\":{\"token\":11}}\n");
  }

  @Test
  void theTimeOfCompilationStandsBesideTheResultOrNotAtAll() throws WireException {
    byte[] line = Wire.ok(4, new PrefillReport(12, 5), 77);
    assertThat(text(line))
        .isEqualTo("{\"id\":4,\"ok\":{\"nanos\":12,\"argmax\":5},\"compile_nanos\":77}\n");
    assertThat(((Answer.Ok) Wire.parseAnswer(line)).compileNanos()).isEqualTo(77);
    byte[] without = Wire.ok(4, new PrefillReport(12, 5), 0);
    assertThat(((Answer.Ok) Wire.parseAnswer(without)).compileNanos()).isZero();
  }

  @Test
  void aMillionIdsFitALine() throws WireException {
    int[] ids = new Random(1).ints(1_000_000, 0, 300_000).toArray();
    byte[] line = Wire.request(1, "prefill", new PrefillRequest(ids, 0));
    assertThat(line).hasSizeLessThan(Json.MAX_LINE);
    assertThat(Wire.parseRequest(Json.parse(line)).parameters(PrefillRequest.class).ids())
        .isEqualTo(ids);
  }

  @Test
  void membersThatNobodyAsksForAreIgnored() throws WireException {
    PrefillReport report =
        RecordCodec.read(
            PrefillReport.class,
            Json.parse(bytes("{\"new\":{\"a\":[1,[]]},\"nanos\":1,\"argmax\":2}")),
            "prefill");
    assertThat(report).isEqualTo(new PrefillReport(1, 2));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {"nanos":1}                            | 'prefill.argmax' is missing
          {"nanos":1,"argmax":null}              | 'prefill.argmax' is missing
          {"nanos":1,"argmax":2.5}               | 'prefill.argmax' must be a whole number, not 2.5
          {"nanos":1,"argmax":"2"}               | 'prefill.argmax' must be a whole number, not the text '2'
          {"nanos":1,"argmax":4294967296}        | 'prefill.argmax' is 4294967296, which does not fit 32 bits
          {"nanos":9223372036854775808}          | the number 9223372036854775808 does not fit 64 bits
          {"nanos":1e999}                        | too large
          {"nanos":NaN}                          | not valid JSON
          {"nanos":1,"nanos":2}                  | not valid JSON: Duplicate
          {"nanos":[1,"a"]}                      | 'prefill.nanos' must be a whole number, not an array of 2
          {"nanos":[null]}                       | an array may not hold null
          {"nanos":1                             | not valid JSON
          {"nanos":1} {}                         | there is more on the line
          [1]                                    | a line must hold one JSON object
          ``                                     | a line must hold one JSON object
          {"a":[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]} | not valid JSON
          """)
  void whatIsWrongWithALineIsSaid(String line, String message) {
    assertThatThrownBy(
            () -> RecordCodec.read(PrefillReport.class, Json.parse(bytes(line)), "prefill"))
        .isInstanceOf(WireException.class)
        .hasMessageContaining(message);
  }

  @Test
  void aNumberOfEndlessDigitsIsRefusedBeforeItIsComputed() {
    byte[] line = bytes("{\"nanos\":1" + "0".repeat(1_000_000) + "}");
    assertThatThrownBy(() -> Json.parse(line)).isInstanceOf(WireException.class);
  }

  @Test
  void idsInsideSequencesAreNamedByPlace() {
    assertThatThrownBy(
            () ->
                RecordCodec.read(
                    ForwardRequest.class,
                    Json.parse(bytes("{\"ids\":[[1,2],[3,99999999999]]}")),
                    "forward"))
        .hasMessageContaining("'forward.ids[1][1]' is 99999999999");
  }

  @Test
  void aMeasuredNumberThatIsNotFiniteIsNotWritten() {
    assertThatThrownBy(
            () -> Wire.ok(1, new DecodeReport(IDS, new long[3], new float[] {0, Float.NaN, 0}), 0))
        .hasMessageContaining("'margins' holds NaN");
  }

  @Test
  void anAnswerNeedsAnIdAndOneOfThreeMembers() {
    for (String line :
        List.of(
            "{}",
            "{\"ok\":{}}",
            "{\"id\":-1,\"ok\":{}}",
            "{\"id\":1}",
            "{\"id\":1,\"ok\":3}",
            "{\"id\":1,\"error\":{\"kind\":\"failed\"}}",
            "{\"id\":1,\"event\":{}}")) {
      assertThatThrownBy(() -> Wire.parseAnswer(bytes(line)))
          .as(line)
          .isInstanceOf(WireException.class);
    }
  }

  @Test
  void anErrorOfUnknownKindIsAPlainFailure() throws WireException {
    assertThat(Wire.parseAnswer(bytes("{\"id\":1,\"error\":{\"kind\":\"odd\",\"message\":\"m\"}}")))
        .isEqualTo(new Answer.Refusal(1, EngineException.Kind.FAILED, "m"));
  }

  private static byte[] bytes(String text) {
    return text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] line) {
    return new String(line, StandardCharsets.UTF_8);
  }

  /** One of every message. */
  static final class Messages {
    static final List<Record> REQUESTS =
        List.of(
            Wire.Nothing.NOTHING,
            new LoadRequest("/a/b \"c\"", 2, 512, "f16", true, Map.of("tier", "vector")),
            new Wire.TokenizeRequest("Grüße, 世界 🙂\u0000\n", true),
            new Wire.RowsRequest(IDS, "rows.f32"),
            new PrefillRequest(IDS, 1),
            new PrefillRequest(new int[0], 0),
            new DecodeRequest(
                IDS,
                3,
                new DecodeRequest.Sampling(
                    0.7f,
                    40,
                    0.95f,
                    0.9f,
                    0.05f,
                    new DecodeRequest.Penalties(1.1f, -1, 0.5f, -0.5f),
                    Long.MIN_VALUE),
                true,
                true,
                List.of(2, 3)),
            new ForwardRequest(new int[][] {{1, 2}, {3, 4}}),
            new KernelRequest("matmul", Map.of("rows", 4_000_000_000L), 5));

    static final List<Record> REPORTS =
        List.of(
            Wire.Nothing.NOTHING,
            new EngineInfo(
                "e",
                "1",
                "b",
                List.of(new EngineInfo.NativeLibrary("/l", "00")),
                List.of("f32", "q4"),
                List.of(),
                true,
                "x"),
            new LoadReport(
                Map.of("load", 5L),
                Map.of("weights", 1L << 40),
                List.of(),
                new LoadReport.Settings(
                    "Q4_1", "f16", "f32", 2, "0-1", 512, 512, true, 49152, 30, 1)),
            new Wire.TokenizeReport(IDS),
            new Wire.LogitsReport(3, 49152),
            new Wire.LayersFileReport(List.of("embedding", "layer 0"), 3, 576),
            new PrefillReport(Long.MAX_VALUE, 3),
            new DecodeReport(IDS, new long[] {1, 2, 3}, new float[] {0.1f, 1e-30f, 3e38f}),
            new DecodeReport(new int[0], new long[0], new float[0]),
            new ForwardReport(1, 0xffffffffL),
            new KernelReport(5, 1.5e-300),
            new MemoryReport(Map.of("weights", 1L)));

    private Messages() {}
  }
}
