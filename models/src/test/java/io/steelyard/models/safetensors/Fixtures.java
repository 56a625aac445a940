package io.steelyard.models.safetensors;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Tiny random models as Hugging Face's transformers stores them. Beside each lies what the GGUF
 * file holds that llama.cpp's converter made of it.
 */
final class Fixtures {
  static final List<String> NAMES =
      List.of("gpt2", "llama", "llama-tied", "mistral", "qwen2", "qwen3-bf16", "gemma3", "dream");

  private Fixtures() {}

  /** A copy of a model's folder, with the tokenizer that all of them share. */
  static Path folder(String name, Path directory) throws IOException {
    Path folder = Files.createDirectories(directory.resolve(name));
    Path resources = resource(name);
    copy(resources, folder, "*.{json,safetensors}");
    copy(resources.getParent(), folder, "tokenizer*.json");
    return folder;
  }

  static Path resource(String name) {
    try {
      return Path.of(Fixtures.class.getResource(name).toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void copy(Path from, Path to, String pattern) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(from, pattern)) {
      for (Path file : files) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
  }
}
