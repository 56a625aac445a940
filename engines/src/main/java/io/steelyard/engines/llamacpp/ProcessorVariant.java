package io.steelyard.engines.llamacpp;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * ggml's rule for choosing among the processor variants of the release, so that the choice is known
 * before the library is loaded. {@link LoadedLibrary} tells which one it came to be.
 *
 * <p>Source: {@code ggml/src/CMakeLists.txt} for the variants' features and {@code cpu-feats.cpp}
 * for the score, both of release v0.5.0.
 */
final class ProcessorVariant {
  private static final int FMA = 1;
  private static final int F16C = 1 << 1;
  private static final int SSE42 = 1 << 2;
  private static final int BMI2 = 1 << 3;
  private static final int AVX = 1 << 4;
  private static final int AVX2 = 1 << 5;
  private static final int AVX_VNNI = 1 << 6;
  private static final int AVX512 = 1 << 7;
  private static final int AVX512_VBMI = 1 << 8;
  private static final int AVX512_BF16 = 1 << 9;
  private static final int AVX512_VNNI = 1 << 10;
  private static final int AMX_INT8 = 1 << 11;

  private static final int HASWELL = SSE42 | AVX | F16C | FMA | AVX2 | BMI2;
  private static final int SKYLAKE = HASWELL | AVX512;
  private static final int ICELAKE = SKYLAKE | AVX512_VBMI | AVX512_VNNI;

  /** Linux's names for each feature, from the lowest bit up. */
  private static final List<Set<String>> FLAGS =
      List.of(
          Set.of("fma"),
          Set.of("f16c"),
          Set.of("sse4_2"),
          Set.of("bmi2"),
          Set.of("avx"),
          Set.of("avx2"),
          Set.of("avx_vnni"),
          Set.of("avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"),
          Set.of("avx512vbmi"),
          Set.of("avx512_bf16"),
          Set.of("avx512_vnni"),
          Set.of("amx_int8"));

  private static final Map<String, Integer> VARIANTS = variants();

  private ProcessorVariant() {}

  /**
   * The variant that ggml chooses on a processor: of those whose features are all there, the one
   * whose features weigh most.
   *
   * @param flags as in {@code /proc/cpuinfo}
   * @return its name as in its library's file name
   */
  static String best(Set<String> flags) {
    int present = 0;
    for (int i = 0; i < FLAGS.size(); i++) {
      if (flags.containsAll(FLAGS.get(i))) {
        present |= 1 << i;
      }
    }
    String best = "x64";
    int most = 0;
    for (Map.Entry<String, Integer> variant : VARIANTS.entrySet()) {
      int features = variant.getValue();
      if ((features & present) == features && features > most) {
        most = features;
        best = variant.getKey();
      }
    }
    return best;
  }

  private static Map<String, Integer> variants() {
    Map<String, Integer> variants = new LinkedHashMap<>();
    variants.put("sse42", SSE42);
    variants.put("sandybridge", SSE42 | AVX);
    variants.put("ivybridge", SSE42 | AVX | F16C);
    variants.put("piledriver", SSE42 | AVX | F16C | FMA);
    variants.put("haswell", HASWELL);
    variants.put("skylakex", SKYLAKE);
    variants.put("cannonlake", SKYLAKE | AVX512_VBMI);
    variants.put("cascadelake", SKYLAKE | AVX512_VNNI);
    variants.put("icelake", ICELAKE);
    variants.put("cooperlake", SKYLAKE | AVX512_VNNI | AVX512_BF16);
    variants.put("zen4", ICELAKE | AVX512_BF16);
    variants.put("alderlake", HASWELL | AVX_VNNI);
    variants.put("sapphirerapids", ICELAKE | AVX512_BF16 | AMX_INT8);
    return variants;
  }
}
