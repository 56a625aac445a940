package io.steelyard.engines.llamacpp;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;

/**
 * The functions of llama.cpp that the adapter calls, bound for the one release whose struct layouts
 * {@link LlamaCppStructs} describes. The caller has checked the files ({@link LibraryFiles});
 * loading checks once more that the structs which the library fills have the expected size and
 * defaults.
 *
 * <p>Nothing here validates arguments: llama.cpp ends the process on bad ones, so {@link
 * LlamaContext}'s caller must.
 *
 * <p>The handles are linked when the class is initialised, before the library is loaded, so that
 * the time of loading it holds none of the JVM's work.
 */
final class LlamaCppLibrary {
  private static final Linker LINKER = Linker.nativeLinker();

  // One handle a shape; the first argument is the function's address.
  private static final MethodHandle VOID = handle(null);
  private static final MethodHandle VOID_P = handle(null, ADDRESS);
  private static final MethodHandle VOID_PP = handle(null, ADDRESS, ADDRESS);
  private static final MethodHandle VOID_PPP = handle(null, ADDRESS, ADDRESS, ADDRESS);
  private static final MethodHandle VOID_PI = handle(null, ADDRESS, JAVA_INT);
  private static final MethodHandle VOID_PZ = handle(null, ADDRESS, JAVA_BOOLEAN);
  private static final MethodHandle P = handle(ADDRESS);
  private static final MethodHandle P_P = handle(ADDRESS, ADDRESS);
  private static final MethodHandle P_PP = handle(ADDRESS, ADDRESS, ADDRESS);
  private static final MethodHandle P_PI = handle(ADDRESS, ADDRESS, JAVA_INT);
  private static final MethodHandle P_I = handle(ADDRESS, JAVA_INT);
  private static final MethodHandle I_P = handle(JAVA_INT, ADDRESS);
  private static final MethodHandle L = handle(JAVA_LONG);
  private static final MethodHandle L_P = handle(JAVA_LONG, ADDRESS);
  private static final MethodHandle Z_P = handle(JAVA_BOOLEAN, ADDRESS);
  private static final MethodHandle Z_PIII =
      handle(JAVA_BOOLEAN, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle I_PPIPIZZ =
      handle(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT, JAVA_BOOLEAN, JAVA_BOOLEAN);
  private static final MethodHandle MODEL_PARAMS = handle(LlamaCppStructs.MODEL_PARAMS);
  private static final MethodHandle CONTEXT_PARAMS = handle(LlamaCppStructs.CONTEXT_PARAMS);
  private static final MethodHandle P_P_MODEL_PARAMS =
      handle(ADDRESS, ADDRESS, LlamaCppStructs.MODEL_PARAMS);
  private static final MethodHandle P_P_CONTEXT_PARAMS =
      handle(ADDRESS, ADDRESS, LlamaCppStructs.CONTEXT_PARAMS);
  private static final MethodHandle I_P_BATCH = handle(JAVA_INT, ADDRESS, LlamaCppStructs.BATCH);

  private static final LlamaCppLog LOG = new LlamaCppLog();
  private static final MemorySegment LOG_CALLBACK = logCallback();

  private final SymbolLookup symbols = SymbolLookup.loaderLookup();

  private final MemorySegment decode = symbol("llama_decode");
  private final MemorySegment synchronize = symbol("llama_synchronize");
  private final MemorySegment logitsAt = symbol("llama_get_logits_ith");
  private final MemorySegment seqRm = symbol("llama_memory_seq_rm");
  private final MemorySegment clear = symbol("llama_memory_clear");
  private final MemorySegment tokenize = symbol("llama_tokenize");
  private final MemorySegment threadpoolNew;
  private final MemorySegment threadpoolFree;

  private LlamaCppLibrary(Path directory) {
    try {
      VOID_PP.invokeExact(symbol("llama_log_set"), LOG_CALLBACK, MemorySegment.NULL);
      VOID_P.invokeExact(
          symbol("ggml_backend_load_all_from_path"), utf8(directory.toString(), Arena.global()));
      VOID.invokeExact(symbol("llama_backend_init"));
    } catch (Throwable e) {
      throw unexpected(e);
    }
    checkStructs();
    MemorySegment cpu = pointer("ggml_backend_reg_by_name", utf8("CPU", Arena.global()));
    if (cpu.address() == 0 || count("ggml_backend_reg_count") != 1) {
      throw new IllegalStateException(
          "llama.cpp found another back end than its CPU one; unset GGML_BACKEND_PATH");
    }
    threadpoolNew = procedure(cpu, "ggml_threadpool_new");
    threadpoolFree = procedure(cpu, "ggml_threadpool_free");
  }

  /**
   * Loads the libraries and lets ggml choose the processor variant. Once per process: ggml's
   * registry of back ends is global.
   *
   * @param directory holds the libraries of {@link LlamaCppRelease}, checked
   * @throws UnsatisfiedLinkError with the loader's own words if a library can't be loaded
   * @throws IllegalStateException if the library isn't what its checksum promised
   */
  static LlamaCppLibrary load(Path directory) {
    System.load(directory.resolve(LlamaCppRelease.BASE_LIBRARY).toString());
    System.load(directory.resolve(LlamaCppRelease.GGML_LIBRARY).toString());
    System.load(directory.resolve(LlamaCppRelease.LLAMA_LIBRARY).toString());
    return new LlamaCppLibrary(directory);
  }

  /** Links the shapes of all functions now, in the runtime's own time. */
  static void link() {
    Objects.requireNonNull(LOG_CALLBACK);
  }

  /** What llama.cpp has said since {@link LlamaCppLog#clear}. */
  LlamaCppLog log() {
    return LOG;
  }

  /** The version that the library states of itself. */
  String version() {
    try {
      MemorySegment text = (MemorySegment) P.invokeExact(symbol("llama_version"));
      return text.reinterpret(256).getString(0);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  MemorySegment modelDefaultParams(SegmentAllocator allocator) {
    return struct(MODEL_PARAMS, "llama_model_default_params", allocator);
  }

  MemorySegment contextDefaultParams(SegmentAllocator allocator) {
    return struct(CONTEXT_PARAMS, "llama_context_default_params", allocator);
  }

  /** Loads a model; the null pointer if that failed. */
  MemorySegment loadModel(MemorySegment path, MemorySegment params) {
    try {
      return (MemorySegment)
          P_P_MODEL_PARAMS.invokeExact(symbol("llama_model_load_from_file"), path, params);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Makes a context; the null pointer if that failed. */
  MemorySegment newContext(MemorySegment model, MemorySegment params) {
    try {
      return (MemorySegment)
          P_P_CONTEXT_PARAMS.invokeExact(symbol("llama_init_from_model"), model, params);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  void freeModel(MemorySegment model) {
    call("llama_model_free", model);
  }

  void freeContext(MemorySegment context) {
    call("llama_free", context);
  }

  /** Makes a thread pool as llama-bench does; the null pointer if that failed. */
  MemorySegment newThreadpool(int threads) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment params = arena.allocate(LlamaCppStructs.THREADPOOL_PARAMS);
      VOID_PI.invokeExact(symbol("ggml_threadpool_params_init"), params, threads);
      return (MemorySegment) P_P.invokeExact(threadpoolNew, params);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  void freeThreadpool(MemorySegment pool) {
    try {
      VOID_P.invokeExact(threadpoolFree, pool);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  void attachThreadpool(MemorySegment context, MemorySegment pool) {
    try {
      VOID_PPP.invokeExact(symbol("llama_attach_threadpool"), context, pool, MemorySegment.NULL);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  MemorySegment memory(MemorySegment context) {
    return pointer("llama_get_memory", context);
  }

  MemorySegment vocabulary(MemorySegment model) {
    return pointer("llama_model_get_vocab", model);
  }

  /** A function {@code int32_t name(pointer)}. */
  int number(String name, MemorySegment argument) {
    try {
      return (int) I_P.invokeExact(symbol(name), argument);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** A function {@code uint64_t name(pointer)}. */
  long bigNumber(String name, MemorySegment argument) {
    try {
      return (long) L_P.invokeExact(symbol(name), argument);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** A function {@code bool name(pointer)}. */
  boolean truth(String name, MemorySegment argument) {
    try {
      return (boolean) Z_P.invokeExact(symbol(name), argument);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Name of a {@code llama_ftype}, such as {@code Q4_K - Medium}. */
  String fileTypeName(int type) {
    try {
      MemorySegment text = (MemorySegment) P_I.invokeExact(symbol("llama_ftype_name"), type);
      return text.address() == 0 ? "unknown" : text.reinterpret(256).getString(0);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Runs a batch: 0 fine, 1 no room in the cache, others failures. */
  int decode(MemorySegment context, MemorySegment batch) {
    try {
      return (int) I_P_BATCH.invokeExact(decode, context, batch);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  void synchronize(MemorySegment context) {
    try {
      VOID_P.invokeExact(synchronize, context);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Logits of the batch's token {@code index}; the null pointer if it had none. */
  MemorySegment logitsAt(MemorySegment context, int index) {
    try {
      return (MemorySegment) P_PI.invokeExact(logitsAt, context, index);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Removes positions from {@code from} to {@code to} (below 0: to the end) of a sequence. */
  boolean removePositions(MemorySegment memory, int sequence, int from, int to) {
    try {
      return (boolean) Z_PIII.invokeExact(seqRm, memory, sequence, from, to);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Forgets all positions; the cache's bytes stay as they are. */
  void clearMemory(MemorySegment memory) {
    try {
      VOID_PZ.invokeExact(clear, memory, false);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Tokenises; the negated number of tokens where {@code capacity} is too small. */
  int tokenize(
      MemorySegment vocabulary,
      MemorySegment text,
      int bytes,
      MemorySegment tokens,
      int capacity,
      boolean parseSpecial) {
    try {
      return (int)
          I_PPIPIZZ.invokeExact(
              tokenize, vocabulary, text, bytes, tokens, capacity, false, parseSpecial);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** A string for C, whatever characters it holds. */
  static MemorySegment utf8(String text, SegmentAllocator allocator) {
    return allocator.allocateFrom(text, StandardCharsets.UTF_8);
  }

  private static MemorySegment logCallback() {
    try {
      MethodHandle accept =
          MethodHandles.lookup()
              .findVirtual(
                  LlamaCppLog.class,
                  "accept",
                  MethodType.methodType(
                      void.class, int.class, MemorySegment.class, MemorySegment.class))
              .bindTo(LOG);
      return LINKER.upcallStub(
          accept, FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS, ADDRESS), Arena.global());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A struct that the library fills must end where ours does and hold the known defaults. */
  private void checkStructs() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment model = withoutOverrun(arena, MODEL_PARAMS, "llama_model_default_params");
      StructLayout m = LlamaCppStructs.MODEL_PARAMS;
      boolean modelFits =
          LlamaCppStructs.getInt(model, m, "n_gpu_layers") == -1
              && LlamaCppStructs.getInt(model, m, "load_mode") == -1
              && LlamaCppStructs.getInt(model, m, "lazy_mode") == 1
              && LlamaCppStructs.getBoolean(model, m, "use_extra_bufts")
              && !LlamaCppStructs.getBoolean(model, m, "load_mtp");
      MemorySegment context = withoutOverrun(arena, CONTEXT_PARAMS, "llama_context_default_params");
      StructLayout c = LlamaCppStructs.CONTEXT_PARAMS;
      boolean contextFits =
          LlamaCppStructs.getInt(context, c, "n_ctx") == 512
              && LlamaCppStructs.getInt(context, c, "n_batch") == 2048
              && LlamaCppStructs.getInt(context, c, "n_ubatch") == 512
              && LlamaCppStructs.getInt(context, c, "flash_attn_type") == -1
              && LlamaCppStructs.getFloat(context, c, "defrag_thold") == -1
              && LlamaCppStructs.getInt(context, c, "type_k") == 1
              && LlamaCppStructs.getInt(context, c, "type_v") == 1
              && LlamaCppStructs.getBoolean(context, c, "swa_full")
              && !LlamaCppStructs.getBoolean(context, c, "kv_unified");
      if (!modelFits || !contextFits) {
        throw new IllegalStateException(
            "the llama.cpp library %s does not behave like %s; install the pinned one with"
                    .formatted(version(), LlamaCppRelease.LLAMA_CPP)
                + " ./steelyard engines install llamacpp");
      }
    }
  }

  private MemorySegment withoutOverrun(Arena arena, MethodHandle shape, String function) {
    byte poison = (byte) 0xA5;
    MemorySegment room = arena.allocate(1024, 16).fill(poison);
    MemorySegment struct = struct(shape, function, (size, alignment) -> room.asSlice(0, size));
    for (long i = struct.byteSize(); i < room.byteSize(); i++) {
      if (room.get(JAVA_BYTE, i) != poison) {
        throw new IllegalStateException(
            function + " fills more than the " + struct.byteSize() + " bytes of its struct");
      }
    }
    return struct;
  }

  private MemorySegment struct(MethodHandle shape, String function, SegmentAllocator allocator) {
    try {
      return (MemorySegment) shape.invokeExact(symbol(function), allocator);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private MemorySegment procedure(MemorySegment registry, String name) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment address =
          (MemorySegment)
              P_PP.invokeExact(
                  symbol("ggml_backend_reg_get_proc_address"), registry, utf8(name, arena));
      if (address.address() == 0) {
        throw new IllegalStateException("ggml's CPU back end has no function " + name);
      }
      return address;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private MemorySegment pointer(String name, MemorySegment argument) {
    try {
      return (MemorySegment) P_P.invokeExact(symbol(name), argument);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private long count(String name) {
    try {
      return (long) L.invokeExact(symbol(name));
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private void call(String name, MemorySegment argument) {
    try {
      VOID_P.invokeExact(symbol(name), argument);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private MemorySegment symbol(String name) {
    return symbols
        .find(name)
        .orElseThrow(() -> new IllegalStateException("llama.cpp has no function " + name));
  }

  private static MethodHandle handle(MemoryLayout result, MemoryLayout... arguments) {
    return LINKER.downcallHandle(
        result == null
            ? FunctionDescriptor.ofVoid(arguments)
            : FunctionDescriptor.of(result, arguments));
  }

  /** A downcall throws nothing of its own; what comes out is ours or the JVM's. */
  private static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException runtime ? runtime : new IllegalStateException(e);
  }
}
