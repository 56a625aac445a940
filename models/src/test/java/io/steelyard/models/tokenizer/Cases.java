package io.steelyard.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.models.gguf.GgufFile;
import io.steelyard.models.gguf.Metadata;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
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

  /** The tokenizer of a tiny model: 256 bytes, 48 merges, 16 control tokens. */
  static Tokenizer tiny() {
    return Tokenizer.of(new Metadata("tiny", tinyValues()));
  }

  /** The metadata of {@link #tiny()}, to be changed at will. */
  static Map<String, Object> tinyValues() {
    try (InputStream in = Cases.class.getResourceAsStream("tiny.json")) {
      Map<String, Object> values = new HashMap<>();
      for (Map.Entry<String, JsonNode> each : new ObjectMapper().readTree(in).properties()) {
        JsonNode node = each.getValue();
        values.put(
            each.getKey(),
            node.isArray() && node.get(0).isInt()
                ? (Object) ids(node)
                : new ObjectMapper().convertValue(node, Object.class));
      }
      return values;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
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
    return DynamicTest.dynamicTest(name + ": " + given.get("text"), () -> check(tokenizer, given));
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

  /** A text of {@code length} code points from all over Unicode, with white space and digits. */
  static String randomText(Random random, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.appendCodePoint(
          switch (random.nextInt(12)) {
            case 0, 1, 2 -> 'a' + random.nextInt(26);
            case 3 -> ' ';
            case 4 -> "\n\r\t \u00a0\u3000\u2028\u0085".charAt(random.nextInt(8));
            case 5 -> '0' + random.nextInt(10);
            case 6 -> "'sStTmMdDreRElLvV".charAt(random.nextInt(17));
            case 7 -> 0x21 + random.nextInt(0x5E);
            case 8 -> random.nextInt(0x250);
            case 9 -> random.nextInt(0xD800);
            case 10 -> 0xE000 + random.nextInt(0x2000);
            default -> 0x10000 + random.nextInt(0x100000);
          });
    }
    return text.toString();
  }

  private static int[] ids(JsonNode array) {
    return IntStream.range(0, array.size()).map(i -> array.get(i).asInt()).toArray();
  }
}
