package io.steelyard.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.models.gguf.GgufFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DynamicTest;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/**
 * Tokenizations that llama.cpp made, checked against Hugging Face tokenizers: {@code {"text",
 * "ids", "special"}} with {@code "hf_ids"} where the two differ and either is right.
 */
final class Cases {
  private Cases() {}

  static Tokenizer tokenizer(Path model) {
    try (GgufFile file = GgufFile.open(model)) {
      return Tokenizer.of(file.metadata());
    }
  }

  static List<JsonNode> resource(String name) {
    try (InputStream in = Cases.class.getResourceAsStream(name)) {
      return list(new ObjectMapper().readTree(in));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<JsonNode> file(Path path) {
    try (InputStream in = Files.newInputStream(path)) {
      return list(new ObjectMapper().readTree(in));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<JsonNode> list(JsonNode array) {
    List<JsonNode> cases = new ArrayList<>();
    array.forEach(cases::add);
    return cases;
  }

  static DynamicTest test(String name, Tokenizer tokenizer, JsonNode given) {
    return DynamicTest.dynamicTest(name, () -> check(tokenizer, given));
  }

  static void check(Tokenizer tokenizer, JsonNode given) {
    String text = given.get("text").asString();
    int[] ids = tokenizer.encode(text, given.get("special").asBoolean());
    int[] right = ids(given.get("ids"));
    if (given.has("hf_ids")) {
      assertThat(ids).as(text).isIn(right, ids(given.get("hf_ids")));
    } else {
      assertThat(ids).as(text).isEqualTo(right);
    }
  }

  private static int[] ids(JsonNode array) {
    return IntStream.range(0, array.size()).map(i -> array.get(i).asInt()).toArray();
  }
}
