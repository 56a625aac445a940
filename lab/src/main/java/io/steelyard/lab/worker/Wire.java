package io.steelyard.lab.worker;

import java.util.List;
import java.util.Map;

/**
 * The worker protocol's messages as lines.
 *
 * <pre>
 * request  {"id":7,"call":"prefill","ids":[1,2,3],"depth":0}
 * reply    {"id":7,"ok":{"nanos":81234,"argmax":5}}
 * refusal  {"id":7,"error":{"kind":"bad-request","message":"…"}}
 * event    {"id":7,"event":{"token":5}}          before the reply of a streaming decode
 * </pre>
 *
 * A request's id is chosen by the coordinator and at least 1. A line from which no id can be read
 * is answered with id 0.
 */
final class Wire {
  /** A request whose parameters are still plain values. */
  record Request(long id, String call, Map<String, Object> parameters) {
    <R extends Record> R parameters(Class<R> type) throws WireException {
      return RecordCodec.read(type, parameters, call);
    }
  }

  /** What a worker says. */
  sealed interface Answer {
    long id();

    /**
     * The call was served.
     *
     * @param compileNanos time that the worker's runtime has compiled since its start; 0 where it
     *     does not tell
     */
    record Ok(long id, Map<String, Object> result, long compileNanos) implements Answer {}

    /** The call was refused. */
    record Refusal(long id, EngineException.Kind kind, String message) implements Answer {}

    /** A token of a decode that goes on. */
    record Token(long id, int token) implements Answer {}
  }

  /** Parameters of a call that takes none, and the result of one that gives none. */
  record Nothing() {
    static final Nothing NOTHING = new Nothing();
  }

  /** Parameters of {@code tokenize}. */
  record TokenizeRequest(String text, boolean parseSpecial) {}

  /** Result of {@code tokenize}. */
  record TokenizeReport(int[] ids) {}

  /** Parameters of {@code logits} and {@code layers}: the ids and the file that takes the rows. */
  record RowsRequest(int[] ids, String file) {}

  /** Result of {@code logits}: {@code rows} of {@code width} float32 values are in the file. */
  record LogitsReport(long rows, int width) {}

  /** Result of {@code layers}: a block of rows for each name is in the file. */
  record LayersFileReport(List<String> names, long rows, int width) {}

  private Wire() {}

  static byte[] request(long id, String call, Record parameters) {
    return Json.line(
        out -> {
          out.writeNumberProperty("id", id);
          out.writeStringProperty("call", call);
          RecordCodec.writeMembers(out, parameters);
        });
  }

  /** The answer to a call that was served; {@code compileNanos} 0 is left out. */
  static byte[] ok(long id, Record result, long compileNanos) {
    return Json.line(
        out -> {
          out.writeNumberProperty("id", id);
          out.writeName("ok");
          out.writeStartObject();
          RecordCodec.writeMembers(out, result);
          out.writeEndObject();
          if (compileNanos > 0) {
            out.writeNumberProperty("compile_nanos", compileNanos);
          }
        });
  }

  static byte[] refusal(long id, EngineException.Kind kind, String message) {
    return Json.line(
        out -> {
          out.writeNumberProperty("id", id);
          out.writeName("error");
          out.writeStartObject();
          out.writeStringProperty("kind", kind.wire());
          out.writeStringProperty("message", message);
          out.writeEndObject();
        });
  }

  static byte[] token(long id, int token) {
    return Json.line(
        out -> {
          out.writeNumberProperty("id", id);
          out.writeName("event");
          out.writeStartObject();
          out.writeNumberProperty("token", token);
          out.writeEndObject();
        });
  }

  static Request parseRequest(Map<String, Object> message) throws WireException {
    if (!(message.get("call") instanceof String call)) {
      throw new WireException("a request needs a 'call' that is text");
    }
    return new Request(id(message), call, message);
  }

  static Answer parseAnswer(byte[] line) throws WireException {
    Map<String, Object> message = Json.parse(line);
    long id = id(message);
    if (message.get("ok") instanceof Map<?, ?>) {
      long compileNanos = message.get("compile_nanos") instanceof Long nanos ? nanos : 0;
      return new Answer.Ok(id, members(message, "ok"), Math.max(0, compileNanos));
    }
    if (message.get("error") instanceof Map<?, ?>) {
      Map<String, Object> error = members(message, "error");
      if (!(error.get("kind") instanceof String kind)
          || !(error.get("message") instanceof String text)) {
        throw new WireException("an 'error' needs 'kind' and 'message', both text");
      }
      return new Answer.Refusal(id, EngineException.Kind.ofWire(kind), text);
    }
    if (message.get("event") instanceof Map<?, ?>) {
      return new Answer.Token(
          id, RecordCodec.read(Token.class, members(message, "event"), "event").token());
    }
    throw new WireException("an answer needs an 'ok', 'error' or 'event' that is an object");
  }

  /** What an event tells. */
  record Token(int token) {}

  /** The id of a message, which both sides need before anything else. */
  static long id(Map<String, Object> message) throws WireException {
    if (message.get("id") instanceof Long id && id >= 0) {
      return id;
    }
    throw new WireException("a message needs an 'id' that is a whole number, at least 0");
  }

  @SuppressWarnings("unchecked") // the parser makes no other maps
  private static Map<String, Object> members(Map<String, Object> message, String name) {
    return (Map<String, Object>) message.get(name);
  }
}
