package io.steelyard.models.tokenizer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.JsonNode;

/**
 * Cases for vocabularies too large for the repository: {@code -Dsteelyard.fixtures=DIRECTORY} with
 * pairs of {@code ggml-vocab-NAME.gguf} and {@code NAME.cases.json}. Without it there are none.
 */
class FixtureCasesTest {
  @TestFactory
  Stream<DynamicTest> vocabularies() throws Exception {
    String given = System.getProperty("steelyard.fixtures");
    if (given == null) {
      return Stream.empty();
    }
    List<DynamicTest> tests = new ArrayList<>();
    try (Stream<Path> files = Files.list(Path.of(given))) {
      for (Path vocabulary : files.filter(p -> p.toString().endsWith(".gguf")).sorted().toList()) {
        String name = vocabulary.getFileName().toString().replaceAll("ggml-vocab-|\\.gguf", "");
        Tokenizer tokenizer = Cases.tokenizer(vocabulary);
        for (JsonNode node : Cases.file(vocabulary.resolveSibling(name + ".cases.json"))) {
          tests.add(Cases.test(name, tokenizer, node));
        }
      }
    }
    return tests.stream();
  }
}
