package io.steelyard.engines.llamacpp;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.steelyard.engines.llamacpp.LlamaCppOptions.KvType;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** A model that llama.cpp has loaded, and its tokenizer. */
final class LlamaModel implements AutoCloseable {
  private static final byte[] MAGIC = {'G', 'G', 'U', 'F'};

  /** {@code llama_load_mode}: leave the weights in the mapped file, or read them. */
  private static final int MMAP = 1;

  private static final int READ = 0;

  private final LlamaCppLibrary library;
  private final MemorySegment model;
  private final MemorySegment vocab;

  private LlamaModel(LlamaCppLibrary library, MemorySegment model) {
    this.library = library;
    this.model = model;
    this.vocab = library.vocabulary(model);
  }

  /**
   * Loads a file.
   *
   * @throws EngineException if it is no model that this llama.cpp can run, with llama.cpp's own
   *     last word on it
   */
  static LlamaModel load(LlamaCppLibrary library, Path file, LlamaCppOptions options)
      throws EngineException {
    checkFile(file);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment params = library.modelDefaultParams(arena);
      var layout = LlamaCppStructs.MODEL_PARAMS;
      LlamaCppStructs.set(params, layout, "n_gpu_layers", 0);
      LlamaCppStructs.set(params, layout, "load_mode", options.mmap() ? MMAP : READ);
      LlamaCppStructs.set(params, layout, "use_extra_bufts", options.repack());
      MemorySegment model = library.loadModel(LlamaCppLibrary.utf8(file.toString(), arena), params);
      if (model.address() == 0) {
        throw unusable(file, library.log().cause().orElse("it gave no reason"));
      }
      LlamaModel loaded = new LlamaModel(library, model);
      if (!library.truth("llama_model_has_decoder", model)
          || library.truth("llama_model_has_encoder", model)) {
        loaded.close();
        throw unusable(file, "it has no decoder alone, so it generates no text from a prompt");
      }
      return loaded;
    }
  }

  MemorySegment pointer() {
    return model;
  }

  int vocabulary() {
    return library.number("llama_vocab_n_tokens", vocab);
  }

  int layers() {
    return library.number("llama_model_n_layer", model);
  }

  long parameters() {
    return library.bigNumber("llama_model_n_params", model);
  }

  /** Precision of most weights, such as {@code Q4_K - Medium}. */
  String fileType() {
    return library.fileTypeName(library.number("llama_model_ftype", model));
  }

  /** About what one token takes in the KV cache, the cache's own bookkeeping included. */
  long cacheBytesPerToken(KvType type) {
    long headWidth =
        library.number("llama_model_n_embd", model)
            / Math.max(1, library.number("llama_model_n_head", model));
    long values = 2L * layers() * library.number("llama_model_n_head_kv", model) * headWidth;
    long bookkeeping = 64;
    return values * type.bytesOf32 / 32 + bookkeeping;
  }

  /**
   * Turns text into ids.
   *
   * @throws EngineException if the model has no tokenizer or the text is no valid Unicode
   */
  int[] tokenize(String text, boolean parseSpecial) throws EngineException {
    if (library.number("llama_vocab_type", vocab) == 0) {
      throw new EngineException(
          Kind.BAD_MODEL, "the model file holds no tokenizer; use one that does");
    }
    ByteBuffer bytes;
    try {
      bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
    } catch (CharacterCodingException e) {
      throw new EngineException(
          Kind.BAD_REQUEST, "the text holds half of a surrogate pair, which is no character", e);
    }
    int length = bytes.remaining();
    if (length == 0) {
      return new int[0];
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment source = arena.allocate(length, 1);
      MemorySegment.copy(MemorySegment.ofBuffer(bytes), 0, source, 0, length);
      // Some tokenizers put a space in front, so there may be a token more than there are bytes.
      int capacity = Math.addExact(length, 16);
      MemorySegment ids = arena.allocate(JAVA_INT, capacity);
      int count = library.tokenize(vocab, source, length, ids, capacity, parseSpecial);
      if (count < 0) {
        capacity = Math.negateExact(count);
        ids = arena.allocate(JAVA_INT, capacity);
        count = library.tokenize(vocab, source, length, ids, capacity, parseSpecial);
      }
      if (count < 0) {
        throw new EngineException(
            Kind.FAILED, "llama.cpp could not tokenise a text of " + length + " bytes");
      }
      return ids.asSlice(0, count * JAVA_INT.byteSize()).toArray(JAVA_INT);
    }
  }

  @Override
  public void close() {
    library.freeModel(model);
  }

  private static void checkFile(Path file) throws EngineException {
    if (Files.isDirectory(file)) {
      throw new EngineException(
          Kind.BAD_MODEL,
          file
              + " is a folder, and llama.cpp loads GGUF files alone; make one of it with './steelyard model convert'");
    }
    if (!Files.isRegularFile(file)) {
      throw new EngineException(Kind.BAD_MODEL, "there is no model file " + file);
    }
    try (InputStream in = Files.newInputStream(file)) {
      if (!Arrays.equals(in.readNBytes(MAGIC.length), MAGIC)) {
        throw new EngineException(
            Kind.BAD_MODEL, file + " is no GGUF file; llama.cpp loads nothing else");
      }
    } catch (IOException e) {
      throw new EngineException(Kind.BAD_MODEL, file + " can't be read: " + e.getMessage(), e);
    }
  }

  private static EngineException unusable(Path file, String reason) {
    return new EngineException(
        Kind.BAD_MODEL,
        "llama.cpp %s can't use %s: %s".formatted(LlamaCppRelease.LLAMA_CPP, file, reason));
  }
}
