package io.steelyard.app;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.lab.record.Json;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.architecture.ModelCost;
import io.steelyard.models.architecture.ModelPart;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.models.gguf.Metadata;
import io.steelyard.models.gguf.ValueType;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Table;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "inspect",
    mixinStandardHelpOptions = true,
    description = {
      "Shows a model's metadata, its tensors, and its bytes by type and part.",
      "",
      "The KV cache's bytes a token are predicted from the shapes in the file."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard model inspect default",
      "  ./steelyard model inspect model.gguf --tensors"
    })
final class ModelInspectCommand implements Callable<Integer> {
  private static final int LONGEST_VALUE = 96;

  @Parameters(
      paramLabel = "MODEL",
      description =
          "a name of 'model list', a GGUF file, or a folder with safetensors or pytorch_model.bin")
  String model;

  @Option(names = "--tensors", description = "list every tensor")
  boolean tensors;

  @Option(names = "--json", description = "print all of it as one JSON document")
  boolean json;

  @Override
  public Integer call() {
    Console console = new Console();
    ResolvedModel resolved = Models.resolve(model, console);
    try (ModelFile file = ModelFile.open(resolved.file())) {
      if (json) {
        console.result(Json.pretty(asJson(resolved, file)));
      } else {
        print(console, resolved, file);
      }
    }
    return ExitCode.FINE;
  }

  private void print(Console console, ResolvedModel resolved, ModelFile file) {
    console.result(
        "%s: %s, %s, %s weights in %d tensors%s"
            .formatted(
                resolved.file(),
                file.format(),
                Format.bytes(file.fileSize()),
                Format.count(file.parameters()),
                file.tensorNames().size(),
                resolved.random() ? ", random weights" : ""));
    console.result("sha256 " + resolved.sha256());
    console.blank();
    Table metadata =
        new Table(console.style())
            .column("key", Table.Align.LEFT)
            .column("value", Table.Align.LEFT);
    file.metadata().keys().forEach(key -> metadata.row(key, value(file.metadata(), key)));
    console.table(metadata.render());
    Table types =
        new Table(console.style())
            .column("type", Table.Align.LEFT)
            .column("bytes", Table.Align.RIGHT)
            .column("share", Table.Align.RIGHT);
    long all = file.bytesByType().values().stream().mapToLong(Long::longValue).sum();
    file.bytesByType()
        .forEach(
            (type, bytes) ->
                types.row(
                    type.name(), Format.bytes(bytes), Format.percent((double) bytes / all, 1)));
    console.table(types.render());
    Table parts =
        new Table(console.style())
            .column("part", Table.Align.LEFT)
            .column("bytes", Table.Align.RIGHT)
            .column("share", Table.Align.RIGHT);
    ModelPart.bytes(file)
        .forEach(
            (part, bytes) ->
                parts.row(
                    part.label(), Format.bytes(bytes), Format.percent((double) bytes / all, 1)));
    console.table(parts.render());
    console.result(keyValues(file));
    if (tensors) {
      Table table =
          new Table(console.style())
              .column("tensor", Table.Align.LEFT)
              .column("type", Table.Align.LEFT)
              .column("rows", Table.Align.RIGHT)
              .column("columns", Table.Align.RIGHT)
              .column("bytes", Table.Align.RIGHT);
      for (Tensor tensor : file.tensors()) {
        table.row(
            tensor.name(),
            tensor.type().name(),
            Format.count(tensor.rows()),
            Format.count(tensor.columns()),
            Format.bytes(tensor.data().byteSize()));
      }
      console.table(table.render());
    } else {
      console.result("--tensors lists every tensor.");
    }
  }

  private static String keyValues(ModelFile file) {
    try {
      Map<DataType, Long> bytes = keyValueBytes(file);
      return "KV cache, predicted: %s a token as f16, %s as f32, %s as q8_0"
          .formatted(
              Format.bytes(bytes.get(DataType.F16)),
              Format.bytes(bytes.get(DataType.F32)),
              Format.bytes(bytes.get(DataType.Q8_0)));
    } catch (ModelException e) {
      return "KV cache: can't be predicted: " + e.getMessage();
    }
  }

  /** Bytes of a position of the cache, all layers, by the type it is held in. */
  private static Map<DataType, Long> keyValueBytes(ModelFile file) {
    long values = ModelCost.keyValues(file);
    long blocks = Math.ceilDiv(values, DataType.Q8_0.blockSize());
    return Map.of(
        DataType.F16, values * Short.BYTES,
        DataType.F32, values * Float.BYTES,
        DataType.Q8_0, blocks * DataType.Q8_0.blockBytes());
  }

  private static String value(Metadata metadata, String key) {
    if (metadata.type(key) == ValueType.ARRAY) {
      return Format.count(metadata.length(key)) + " values";
    }
    String text = String.valueOf(metadata.raw(key)).replace("\n", "⏎");
    return text.length() <= LONGEST_VALUE ? text : text.substring(0, LONGEST_VALUE) + "…";
  }

  private static Map<String, Object> keyValueJson(ModelFile file) {
    Map<String, Object> json = new LinkedHashMap<>();
    try {
      Map<DataType, Long> bytes = keyValueBytes(file);
      for (DataType type : List.of(DataType.F16, DataType.F32, DataType.Q8_0)) {
        json.put(type.name().toLowerCase(Locale.ROOT), bytes.get(type));
      }
    } catch (ModelException e) {
      json.put("error", e.getMessage());
    }
    return json;
  }

  private static Map<String, Object> asJson(ResolvedModel resolved, ModelFile file) {
    Map<String, Object> metadata = new LinkedHashMap<>();
    for (String key : file.metadata().keys()) {
      metadata.put(
          key,
          file.metadata().type(key) == ValueType.ARRAY
              ? Map.of("values", file.metadata().length(key))
              : file.metadata().raw(key));
    }
    List<Object> tensors = new ArrayList<>();
    for (Tensor tensor : file.tensors()) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("name", tensor.name());
      row.put("type", tensor.type().name());
      row.put("rows", tensor.rows());
      row.put("columns", tensor.columns());
      row.put("bytes", tensor.data().byteSize());
      tensors.add(row);
    }
    Map<String, Object> bytes = new LinkedHashMap<>();
    for (Map.Entry<DataType, Long> entry : file.bytesByType().entrySet()) {
      bytes.put(entry.getKey().name(), entry.getValue());
    }
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("file", resolved.file().toString());
    document.put("sha256", resolved.sha256());
    document.put("size", file.fileSize());
    document.put("weights", resolved.random() ? "random" : "real");
    document.put("parameters", file.parameters());
    document.put("bytes_by_type", bytes);
    Map<String, Object> parts = new LinkedHashMap<>();
    ModelPart.bytes(file).forEach((part, size) -> parts.put(part.label(), size));
    document.put("bytes_by_part", parts);
    document.put("kv_bytes_a_token", keyValueJson(file));
    document.put("metadata", metadata);
    document.put("tensors", tensors);
    return document;
  }
}
