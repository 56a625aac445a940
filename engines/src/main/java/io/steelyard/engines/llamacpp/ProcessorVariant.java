package io.steelyard.engines.llamacpp;

import java.util.Comparator;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * The processor variants of the release, and ggml's own rule for choosing one, so that the choice
 * is known before the library is loaded. {@link LoadedLibrary} tells which one it came to be.
 *
 * <p>Source: {@code ggml/src/CMakeLists.txt} for the variants' features and {@code cpu-feats.cpp}
 * for the score, both of release v0.5.0.
 */
enum ProcessorVariant {
  X64,
  SSE42(Feature.SSE42),
  SANDYBRIDGE(SSE42, Feature.AVX),
  IVYBRIDGE(SANDYBRIDGE, Feature.F16C),
  PILEDRIVER(IVYBRIDGE, Feature.FMA),
  HASWELL(PILEDRIVER, Feature.AVX2, Feature.BMI2),
  SKYLAKEX(HASWELL, Feature.AVX512),
  CANNONLAKE(SKYLAKEX, Feature.AVX512_VBMI),
  CASCADELAKE(SKYLAKEX, Feature.AVX512_VNNI),
  ICELAKE(CANNONLAKE, Feature.AVX512_VNNI),
  COOPERLAKE(CASCADELAKE, Feature.AVX512_BF16),
  ZEN4(ICELAKE, Feature.AVX512_BF16),
  ALDERLAKE(HASWELL, Feature.AVX_VNNI),
  SAPPHIRERAPIDS(ZEN4, Feature.AMX_INT8);

  /** Features in the order of their weight in the score, with Linux's names for them. */
  private enum Feature {
    FMA("fma"),
    F16C("f16c"),
    SSE42("sse4_2"),
    BMI2("bmi2"),
    AVX("avx"),
    AVX2("avx2"),
    AVX_VNNI("avx_vnni"),
    AVX512("avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"),
    AVX512_VBMI("avx512vbmi"),
    AVX512_BF16("avx512_bf16"),
    AVX512_VNNI("avx512_vnni"),
    AMX_INT8("amx_int8");

    private final Set<String> flags;

    Feature(String... flags) {
      this.flags = Set.of(flags);
    }
  }

  private final Set<Feature> features;

  ProcessorVariant(Feature... features) {
    this.features = EnumSet.noneOf(Feature.class);
    this.features.addAll(Set.of(features));
  }

  ProcessorVariant(ProcessorVariant like, Feature... more) {
    this(more);
    this.features.addAll(like.features);
  }

  /**
   * The variant that ggml chooses on a processor.
   *
   * @param flags as in {@code /proc/cpuinfo}
   */
  static ProcessorVariant best(Set<String> flags) {
    return EnumSet.allOf(ProcessorVariant.class).stream()
        .filter(variant -> variant.features.stream().allMatch(f -> flags.containsAll(f.flags)))
        .max(Comparator.comparingInt(ProcessorVariant::score))
        .orElse(X64);
  }

  /** The variant's name in its library's file name. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  private int score() {
    return 1 + features.stream().mapToInt(feature -> 1 << feature.ordinal()).sum();
  }
}
