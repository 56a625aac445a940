package io.steelyard.history;

import io.steelyard.lab.record.Summary;
import java.io.IOException;
import java.io.Writer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Writes runs of a history for other programs, one after the other: any number fits in memory. */
public final class Export {
  /** The schema of the JSON. */
  public static final String SCHEMA = "steelyard/history/1";

  private static final List<String> OF_RUN =
      List.of(
          "run",
          "name",
          "source",
          "started",
          "run_model",
          "model_sha256",
          "weights",
          "settings",
          "commit",
          "dirty",
          "hardware");
  private static final List<String> OF_CELL = CellColumns.fields();
  private static final List<String> OF_VALUE =
      List.of(
          "run",
          "name",
          "label",
          "model",
          "precision",
          "metric",
          "unit",
          "block",
          "attempt",
          "fork",
          "role",
          "number",
          "counts",
          "value");

  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .enable(SerializationFeature.INDENT_OUTPUT)
          .build();

  private final HistoryStore store;

  public Export(HistoryStore store) {
    this.store = store;
  }

  /** One row a cell, with what there is to say of its run. */
  public void cellsAsCsv(List<StoredRun> runs, Writer out) throws IOException {
    List<String> header = new ArrayList<>(OF_RUN);
    header.addAll(OF_CELL);
    CSVPrinter printer = csv(header, out);
    for (StoredRun run : runs) {
      for (RunContents.Cell cell : store.show(run).cells()) {
        List<Object> row = new ArrayList<>(fields(run));
        row.addAll(CellColumns.values(cell.figures()));
        printer.printRecord(row);
      }
    }
    printer.flush();
  }

  /** One row a timed call. */
  public void valuesAsCsv(List<StoredRun> runs, Writer out) throws IOException {
    CSVPrinter printer = csv(OF_VALUE, out);
    for (StoredRun run : runs) {
      for (RunContents.Cell cell : store.show(run).cells()) {
        Summary.Cell f = cell.figures();
        for (TimedValue value : store.values(cell.number())) {
          printer.printRecord(
              run.number(),
              run.name(),
              f.label(),
              f.model(),
              f.precision(),
              f.metric(),
              f.unit(),
              value.block(),
              value.attempt(),
              value.fork(),
              role(value),
              value.number(),
              value.counts(),
              value.value());
        }
      }
    }
    printer.flush();
  }

  private static CSVPrinter csv(List<String> header, Writer out) throws IOException {
    return CSVFormat.RFC4180
        .builder()
        .setRecordSeparator('\n')
        .setHeader(header.toArray(String[]::new))
        .get()
        .print(out);
  }

  private static List<Object> fields(StoredRun run) {
    List<Object> fields = new ArrayList<>();
    fields.add(run.number());
    fields.add(run.name());
    fields.add(run.source());
    fields.add(run.started());
    fields.add(run.model().name());
    fields.add(run.model().sha256());
    fields.add(run.model().weights());
    fields.add(run.settings());
    fields.add(run.commit().id());
    fields.add(run.commit().dirty().orElse(null));
    fields.add(run.hardware().orElse(null));
    return fields;
  }

  private static String role(TimedValue value) {
    return value.role().name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * Runs with all that is kept of them: {@code {"schema": …, "runs": […]}}.
   *
   * @param withValues whether every timed call is written too
   */
  public void asJson(List<StoredRun> runs, boolean withValues, Writer out) throws IOException {
    try (JsonGenerator json = MAPPER.createGenerator(out)) {
      json.writeStartObject();
      json.writeStringProperty("schema", SCHEMA);
      json.writeArrayPropertyStart("runs");
      for (StoredRun run : runs) {
        write(run, withValues, json);
      }
      json.writeEndArray();
      json.writeEndObject();
    } catch (JacksonIOException e) {
      throw new IOException(e.getOriginalMessage(), e);
    }
    out.write('\n');
    out.flush();
  }

  private void write(StoredRun run, boolean withValues, JsonGenerator json) {
    RunContents contents = store.show(run);
    json.writeStartObject();
    for (int i = 0; i < OF_RUN.size(); i++) {
      json.writePOJOProperty(OF_RUN.get(i), plain(fields(run).get(i)));
    }
    json.writeStringProperty("command", run.command());
    json.writePOJOProperty("environment", contents.environment());
    json.writeArrayPropertyStart("cells");
    for (RunContents.Cell cell : contents.cells()) {
      json.writeStartObject();
      List<Object> fields = CellColumns.values(cell.figures());
      for (int i = 0; i < OF_CELL.size(); i++) {
        json.writePOJOProperty(OF_CELL.get(i), fields.get(i));
      }
      if (withValues) {
        json.writeArrayPropertyStart("values");
        for (TimedValue value : store.values(cell.number())) {
          json.writeStartObject();
          json.writeNumberProperty("block", value.block());
          json.writeNumberProperty("attempt", value.attempt());
          json.writeNumberProperty("fork", value.fork());
          json.writeStringProperty("role", role(value));
          json.writeNumberProperty("number", value.number());
          json.writeBooleanProperty("counts", value.counts());
          json.writeNumberProperty("value", value.value());
          json.writeEndObject();
        }
        json.writeEndArray();
      }
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writePOJOProperty("comparisons", contents.comparisons());
    json.writeEndObject();
  }

  private static Object plain(Object value) {
    return value instanceof Instant time ? time.toString() : value;
  }
}
