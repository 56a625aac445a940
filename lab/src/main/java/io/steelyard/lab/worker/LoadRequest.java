package io.steelyard.lab.worker;

import java.util.Map;

/**
 * What to load and how.
 *
 * @param model path of the model file
 * @param threads compute threads, at least 1
 * @param context tokens the KV cache must hold, at least 1
 * @param kv type of the KV cache: {@code f16} or {@code f32}
 * @param flashAttention whether to use flash attention where the engine has the choice
 * @param options the engine's own options, as written after its name ({@code tier=vector})
 */
public record LoadRequest(
    String model,
    int threads,
    int context,
    String kv,
    boolean flashAttention,
    Map<String, String> options) {}
