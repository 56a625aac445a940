package io.steelyard.models;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPInputStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Golden values that share no code with Steelyard: Hugging Face transformers in float64 on the same
 * weights. The tiny models are random, from a seed.
 */
public final class Golden {
  private static final String CONFIG = "config.json";
  private static final JsonMapper JSON = new JsonMapper();

  private Golden() {}

  static JsonNode json(String name) throws IOException {
    return JSON.readTree(bytes(name));
  }

  static int[] ids(JsonNode node) {
    int[] ids = new int[node.size()];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = node.get(i).asInt();
    }
    return ids;
  }

  /** Little-endian float32 values; unpacked if the name ends in {@code .gz}. */
  static float[] floats(String name) throws IOException {
    byte[] bytes = bytes(name);
    float[] values = new float[bytes.length / Float.BYTES];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
    return values;
  }

  /** A tiny model as a GGUF file, or as a folder of safetensors if that is how it is kept. */
  public static Path model(String name, Path directory) throws IOException {
    String from = "tiny/" + name + "/";
    return Golden.class.getResource(from + CONFIG) == null
        ? file(name, directory)
        : folder(from, directory.resolve(name));
  }

  private static Path folder(String from, Path folder) throws IOException {
    Files.createDirectories(folder);
    for (String part : List.of(CONFIG, "model.safetensors")) {
      Files.write(folder.resolve(part), bytes(from + part));
    }
    for (String part : List.of("tokenizer.json", "tokenizer_config.json")) {
      Files.write(folder.resolve(part), bytes("safetensors/" + part));
    }
    return folder;
  }

  private static Path file(String name, Path directory) throws IOException {
    Path file = directory.resolve(name + ".gguf");
    Files.write(file, bytes("tiny/" + name + "/" + name + ".gguf"));
    return file;
  }

  private static byte[] bytes(String name) throws IOException {
    InputStream found = Golden.class.getResourceAsStream(name);
    if (found == null) {
      throw new IOException("no test resource " + name);
    }
    try (InputStream in = name.endsWith(".gz") ? new GZIPInputStream(found) : found) {
      return in.readAllBytes();
    }
  }
}
