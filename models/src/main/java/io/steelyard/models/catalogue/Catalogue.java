package io.steelyard.models.catalogue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The models that have a name, read from {@code catalogue.json}. */
record Catalogue(List<Entry> entries) {

  /**
   * One model.
   *
   * @param name its name
   * @param aliases other names
   * @param file name of its file, or folder, in the cache
   * @param bytes size of that file; of a folder about what its files have together
   * @param sha256 the checksum that every source must have; empty for a folder, whose checksums the
   *     hub gives when it is fetched
   * @param licence what it may be used under, in short
   * @param standIn a random model of its shape
   * @param sources in the order in which they are tried
   */
  record Entry(
      String name,
      List<String> aliases,
      String file,
      long bytes,
      String sha256,
      String licence,
      String standIn,
      List<Source> sources) {

    /** Whether it is a folder with files of a repository rather than one file. */
    boolean isFolder() {
      return sources.getFirst() instanceof Source.Repository;
    }

    boolean isCalled(String text) {
      return names().anyMatch(text::equalsIgnoreCase);
    }

    Stream<String> names() {
      return Stream.concat(Stream.of(name), aliases.stream());
    }
  }

  static Catalogue bundled() {
    try (InputStream in = Catalogue.class.getResourceAsStream("catalogue.json")) {
      if (in == null) {
        throw new IllegalStateException("catalogue.json is missing from the jar");
      }
      return parse(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Catalogue parse(byte[] json) {
    List<Entry> entries = new ArrayList<>();
    for (JsonNode model : JsonMapper.shared().readTree(json).required("models")) {
      List<String> aliases = new ArrayList<>();
      model.required("aliases").forEach(alias -> aliases.add(alias.asString()));
      List<Source> sources = new ArrayList<>();
      model.required("sources").forEach(source -> sources.add(source(source)));
      entries.add(
          new Entry(
              model.required("name").asString(),
              List.copyOf(aliases),
              model.required("file").asString(),
              model.required("bytes").asLong(),
              model.path("sha256").asString(""),
              model.path("licence").asString(""),
              model.required("standIn").asString(),
              List.copyOf(sources)));
    }
    return new Catalogue(List.copyOf(entries));
  }

  Optional<Entry> find(String name) {
    return entries.stream().filter(entry -> entry.isCalled(name)).findFirst();
  }

  private static Source source(JsonNode source) {
    String kind = source.required("kind").asString();
    return switch (kind) {
      case "hub" ->
          new Source.Hub(
              source.required("repository").asString(), source.required("file").asString());
      case "repository" ->
          new Source.Repository(
              source.required("repository").asString(), source.path("gated").asBoolean(false));
      case "pip" ->
          new Source.Pip(
              source.required("distribution").asString(),
              source.required("version").asString(),
              source.required("entry").asString());
      default -> throw new IllegalStateException("catalogue.json has the unknown source " + kind);
    };
  }
}
