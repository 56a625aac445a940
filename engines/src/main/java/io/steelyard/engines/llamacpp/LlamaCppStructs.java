package io.steelyard.engines.llamacpp;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.MemoryLayout.paddingLayout;
import static java.lang.foreign.MemoryLayout.sequenceLayout;
import static java.lang.foreign.MemoryLayout.structLayout;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/**
 * The structs of {@code llama.h} and {@code ggml.h} that travel by value or by pointer, for release
 * v0.5.0 on x86-64. Fields have the names of the headers.
 */
final class LlamaCppStructs {
  /** Most threads a {@code ggml} thread pool can have. */
  static final int MAX_THREADS = 512;

  /** {@code llama_model_params}. */
  static final StructLayout MODEL_PARAMS =
      structLayout(
          ADDRESS.withName("devices"),
          ADDRESS.withName("tensor_buft_overrides"),
          JAVA_INT.withName("n_gpu_layers"),
          JAVA_INT.withName("split_mode"),
          JAVA_INT.withName("load_mode"),
          JAVA_INT.withName("lazy_mode"),
          JAVA_INT.withName("main_gpu"),
          paddingLayout(4),
          ADDRESS.withName("tensor_split"),
          ADDRESS.withName("progress_callback"),
          ADDRESS.withName("progress_callback_user_data"),
          ADDRESS.withName("kv_overrides"),
          JAVA_BOOLEAN.withName("vocab_only"),
          JAVA_BOOLEAN.withName("check_tensors"),
          JAVA_BOOLEAN.withName("use_extra_bufts"),
          JAVA_BOOLEAN.withName("no_host"),
          JAVA_BOOLEAN.withName("no_alloc"),
          JAVA_BOOLEAN.withName("load_mtp"),
          paddingLayout(2));

  /** {@code llama_context_params}. */
  static final StructLayout CONTEXT_PARAMS =
      structLayout(
          JAVA_INT.withName("n_ctx"),
          JAVA_INT.withName("n_batch"),
          JAVA_INT.withName("n_ubatch"),
          JAVA_INT.withName("n_seq_max"),
          JAVA_INT.withName("n_rs_seq"),
          JAVA_INT.withName("n_outputs_max"),
          JAVA_INT.withName("n_outputs_max_per_seq"),
          JAVA_INT.withName("n_threads"),
          JAVA_INT.withName("n_threads_batch"),
          JAVA_INT.withName("ctx_type"),
          JAVA_INT.withName("rope_scaling_type"),
          JAVA_INT.withName("pooling_type"),
          JAVA_INT.withName("attention_type"),
          JAVA_INT.withName("flash_attn_type"),
          JAVA_FLOAT.withName("rope_freq_base"),
          JAVA_FLOAT.withName("rope_freq_scale"),
          JAVA_FLOAT.withName("yarn_ext_factor"),
          JAVA_FLOAT.withName("yarn_attn_factor"),
          JAVA_FLOAT.withName("yarn_beta_fast"),
          JAVA_FLOAT.withName("yarn_beta_slow"),
          JAVA_INT.withName("yarn_orig_ctx"),
          JAVA_FLOAT.withName("defrag_thold"),
          ADDRESS.withName("cb_eval"),
          ADDRESS.withName("cb_eval_user_data"),
          JAVA_INT.withName("type_k"),
          JAVA_INT.withName("type_v"),
          ADDRESS.withName("abort_callback"),
          ADDRESS.withName("abort_callback_data"),
          JAVA_BOOLEAN.withName("embeddings"),
          JAVA_BOOLEAN.withName("offload_kqv"),
          JAVA_BOOLEAN.withName("no_perf"),
          JAVA_BOOLEAN.withName("op_offload"),
          JAVA_BOOLEAN.withName("swa_full"),
          JAVA_BOOLEAN.withName("kv_unified"),
          paddingLayout(2),
          ADDRESS.withName("samplers"),
          JAVA_LONG.withName("n_samplers"),
          ADDRESS.withName("ctx_other"));

  /** {@code llama_batch}. */
  static final StructLayout BATCH =
      structLayout(
          JAVA_INT.withName("n_tokens"),
          paddingLayout(4),
          ADDRESS.withName("token"),
          ADDRESS.withName("embd"),
          ADDRESS.withName("pos"),
          ADDRESS.withName("n_seq_id"),
          ADDRESS.withName("seq_id"),
          ADDRESS.withName("logits"));

  /** {@code ggml_threadpool_params}. */
  static final StructLayout THREADPOOL_PARAMS =
      structLayout(
          sequenceLayout(MAX_THREADS, JAVA_BYTE).withName("cpumask"),
          JAVA_INT.withName("n_threads"),
          JAVA_INT.withName("prio"),
          JAVA_INT.withName("poll"),
          JAVA_BOOLEAN.withName("strict_cpu"),
          JAVA_BOOLEAN.withName("paused"),
          paddingLayout(2));

  private LlamaCppStructs() {}

  static int getInt(MemorySegment struct, StructLayout layout, String field) {
    return struct.get(JAVA_INT, offset(layout, field));
  }

  static boolean getBoolean(MemorySegment struct, StructLayout layout, String field) {
    return struct.get(JAVA_BOOLEAN, offset(layout, field));
  }

  static float getFloat(MemorySegment struct, StructLayout layout, String field) {
    return struct.get(JAVA_FLOAT, offset(layout, field));
  }

  static void set(MemorySegment struct, StructLayout layout, String field, int value) {
    struct.set(JAVA_INT, offset(layout, field), value);
  }

  static void set(MemorySegment struct, StructLayout layout, String field, boolean value) {
    struct.set(JAVA_BOOLEAN, offset(layout, field), value);
  }

  static void set(MemorySegment struct, StructLayout layout, String field, MemorySegment value) {
    struct.set(ADDRESS, offset(layout, field), value);
  }

  private static long offset(StructLayout layout, String field) {
    return layout.byteOffset(groupElement(field));
  }
}
