package io.steelyard.engines.llamacpp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProcessorVariantTest {
  private static final String HASWELL = "sse4_2 avx f16c fma avx2 bmi2";
  private static final String SKYLAKE = HASWELL + " avx512f avx512cd avx512vl avx512dq avx512bw";

  @ParameterizedTest
  @CsvSource({
    "fpu, x64",
    "sse4_2, sse42",
    HASWELL + ", haswell",
    "sse4_2 avx f16c, ivybridge",
    HASWELL + " avx_vnni, alderlake",
    // Without bw the whole AVX-512 group is out of reach.
    HASWELL + " avx512f avx512cd avx512vl avx512dq, haswell",
    SKYLAKE + ", skylakex",
    SKYLAKE + " avx512_vnni, cascadelake",
    SKYLAKE + " avx512_vnni avx512vbmi, icelake",
    SKYLAKE + " avx512_vnni avx512_bf16, cooperlake",
    SKYLAKE + " avx512_vnni avx512vbmi avx512_bf16, zen4",
    SKYLAKE + " avx512_vnni avx512vbmi avx512_bf16 amx_int8, sapphirerapids"
  })
  void choosesAsGgmlDoes(String flags, String variant) {
    assertThat(ProcessorVariant.best(Set.of(flags.split(" ")))).isEqualTo(variant);
  }
}
