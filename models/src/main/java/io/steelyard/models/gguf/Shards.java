package io.steelyard.models.gguf;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A model in several files, {@code NAME-00001-of-00003.gguf} and so on, as llama.cpp's {@code
 * llama-gguf-split} writes them: all metadata in the first, some of the tensors in each, and in
 * each its number, how many files and how many tensors there are.
 */
final class Shards {
  static final String COUNT = "split.count";

  private static final String NUMBER = "split.no";
  private static final String TENSORS = "split.tensors.count";
  private static final Pattern NAME = Pattern.compile("(.+)-(\\d{5})-of-(\\d{5})\\.gguf");

  /** What every file of a model says alike, where it says it. */
  private static final List<String> IDENTITY = List.of("general.architecture", "general.name");

  private Shards() {}

  /**
   * All files of the model that a file belongs to, in order; the file alone if its name is no
   * shard's.
   *
   * @throws ModelException if one is missing
   */
  static List<Path> files(Path given) {
    Matcher name = NAME.matcher(String.valueOf(given.getFileName()));
    int count = name.matches() ? Integer.parseInt(name.group(3)) : 1;
    if (count <= 1) {
      return List.of(given);
    }
    List<Path> files = new ArrayList<>();
    for (int number = 1; number <= count; number++) {
      Path file =
          given.resolveSibling("%s-%05d-of-%05d.gguf".formatted(name.group(1), number, count));
      if (Files.notExists(file)) {
        throw new ModelException(
            "%s is missing: the model is in %d files of one folder; fetch this one too"
                .formatted(file, count));
      }
      files.add(file);
    }
    return files;
  }

  /**
   * Makes sure that files make one whole model.
   *
   * @param headers of the files, in order
   * @throws ModelException naming the file that doesn't belong, or says otherwise
   */
  static void check(List<Path> files, List<HeaderReader.Header> headers) {
    long tensors = headers.stream().mapToLong(header -> header.tensors().size()).sum();
    for (int i = 0; i < files.size(); i++) {
      Metadata metadata = headers.get(i).metadata();
      long count = metadata.integer(COUNT, 1);
      if (count > 1 && files.size() == 1) {
        throw metadata.fault(
            "it is one of %d files of a model, which are found by their names: call it NAME-%05d-of-%05d.gguf as it was"
                .formatted(count, metadata.integer(NUMBER, 0) + 1, count));
      }
      if (files.size() == 1) {
        return;
      }
      if (count != files.size()) {
        throw metadata.fault(
            "its name says that it is one of %d files, its metadata (%s) that it is one of %d; fetch the model again"
                .formatted(files.size(), COUNT, count));
      }
      if (metadata.integer(NUMBER, -1) != i) {
        throw metadata.fault(
            "its name says that it is file %d of %d, its metadata (%s) that it is file %d; give it the name it had"
                .formatted(i + 1, count, NUMBER, metadata.integer(NUMBER, -1) + 1));
      }
      requireSameModel(files.getFirst(), headers.getFirst().metadata(), metadata);
    }
    Metadata first = headers.getFirst().metadata();
    if (first.integer(TENSORS, tensors) != tensors) {
      throw first.fault(
          "it promises %d tensors in %d files (%s), which hold %d; fetch the model again"
              .formatted(first.integer(TENSORS), files.size(), TENSORS, tensors));
    }
    requireEachOnce(headers);
  }

  private static void requireSameModel(Path firstFile, Metadata first, Metadata other) {
    for (String key : IDENTITY) {
      if (other.has(key) && !other.string(key).equals(first.string(key, ""))) {
        throw other.fault(
            "it is of another model than %s: its %s is '%s', not '%s'; fetch the model again"
                .formatted(
                    firstFile.getFileName(),
                    key,
                    printable(other.string(key)),
                    printable(first.string(key, ""))));
      }
    }
    if (other.integer(TENSORS, 0) != first.integer(TENSORS, 0)) {
      throw other.fault(
          "it is of another model than %s: its %s is %d, not %d; fetch the model again"
              .formatted(
                  firstFile.getFileName(),
                  TENSORS,
                  other.integer(TENSORS, 0),
                  first.integer(TENSORS, 0)));
    }
  }

  private static void requireEachOnce(List<HeaderReader.Header> headers) {
    Map<String, Integer> shardOf = new HashMap<>();
    for (int i = 0; i < headers.size(); i++) {
      for (HeaderReader.Description tensor : headers.get(i).tensors()) {
        Integer earlier = shardOf.put(tensor.name(), i);
        if (earlier != null) {
          throw headers
              .get(i)
              .metadata()
              .fault(
                  "it holds tensor '%s', which file %d of the model holds too; fetch the model again"
                      .formatted(printable(tensor.name()), earlier + 1));
        }
      }
    }
  }
}
