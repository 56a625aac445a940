package io.steelyard.engines.llamacpp;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The one llama.cpp that this adapter binds: release v0.5.0 as built for Linux on x86-64 and
 * shipped in the npm package {@code @node-llama-cpp/linux-x64}. Struct layouts change between
 * releases, so every library is recognised by its checksum and no other is loaded.
 */
final class LlamaCppRelease {
  static final String LLAMA_CPP = "v0.5.0";
  static final String PACKAGE = "@node-llama-cpp/linux-x64";
  static final String PACKAGE_VERSION = "3.22.1";

  /** Checksum of the npm tarball. */
  static final String TARBALL_SHA256 =
      "0d953e1503d5ab4608d8ed5b739132308c81ac05ffeb760d2a7f30e08a9f90e0";

  /** Where the tarball keeps the libraries. */
  static final String TARBALL_FOLDER = "package/bins/linux-x64/";

  /** The largest archive that is downloaded or unpacked, far above the real 11 and 23 MB. */
  static final long MOST_ARCHIVE_BYTES = 512L << 20;

  /** How the version is told to users. */
  static final String VERSION = LLAMA_CPP + " (npm " + PACKAGE_VERSION + ")";

  static final String BASE_LIBRARY = "libggml-base.so";
  static final String GGML_LIBRARY = "libggml.v0.5.0.so";
  static final String LLAMA_LIBRARY = "libllama.v0.5.0.so";

  /** What every processor variant's library is called, up to the variant's name. */
  static final String VARIANT_PREFIX = "libggml-cpu-";

  /**
   * A library of the release.
   *
   * @param size bytes
   * @param sha256 checksum in lower-case hexadecimal
   */
  record Library(long size, String sha256) {}

  /** All libraries that are needed, by file name. */
  static final Map<String, Library> LIBRARIES = libraries();

  private LlamaCppRelease() {}

  private static Map<String, Library> libraries() {
    Map<String, Library> map = new LinkedHashMap<>();
    add(
        map,
        BASE_LIBRARY,
        919_560,
        "6c342c8aeb20cb31a18099d6f79de4de6703814d1cfd5c4d754a8643087e486e");
    add(
        map,
        VARIANT_PREFIX + "alderlake.so",
        1_224_328,
        "6527efda35405a0d91574aced4a7766db9bb0494ab6458c83fe9eba755eb76f7");
    add(
        map,
        VARIANT_PREFIX + "cannonlake.so",
        1_369_312,
        "44285a67a31a81a036a70c565d391b31145d835044c03c76cfaa2f90a9d57d42");
    add(
        map,
        VARIANT_PREFIX + "cascadelake.so",
        1_369_312,
        "97cace813fbf7b7a07c4793f6a75b8b2d3de256430620f0be4a15bd4372468ea");
    add(
        map,
        VARIANT_PREFIX + "cooperlake.so",
        1_365_288,
        "5eda284fd8986d550e21623b269dd31d02c07fc70121d3099609d5dde6b6847e");
    add(
        map,
        VARIANT_PREFIX + "haswell.so",
        1_228_424,
        "ddaa96012769f0e86e8670cca374243751880bea2c2d0a4413b3a1b7a29dca74");
    add(
        map,
        VARIANT_PREFIX + "icelake.so",
        1_369_312,
        "9b9c24aaa775fd38a6e1ff082549e50d4138d29f2e2883630b28ab70704ed896");
    add(
        map,
        VARIANT_PREFIX + "ivybridge.so",
        1_190_120,
        "91b27ab81df92b8429c8e3441a8861014d3aec1424f90885a628fd0d4567532f");
    add(
        map,
        VARIANT_PREFIX + "piledriver.so",
        1_186_024,
        "2cb5b2101f5bbefa2416ec7f8b6c6acb177d04f0157989c5d92e4c07750fd3f8");
    add(
        map,
        VARIANT_PREFIX + "sandybridge.so",
        1_180_808,
        "bce17565033835dfb59fae2ed712d4c35e56463c2d49ea61ca08e6e2908bdfd6");
    add(
        map,
        VARIANT_PREFIX + "sapphirerapids.so",
        1_669_760,
        "e3d4840632b2242655e1721c6b93ec0370406dded9074accfe90bcfb67bd30b8");
    add(
        map,
        VARIANT_PREFIX + "skylakex.so",
        1_369_312,
        "df30b40a957175cd8e462e8838632dc51e3be7570b27b9526cb7a044263aeab3");
    add(
        map,
        VARIANT_PREFIX + "sse42.so",
        981_608,
        "ec65053445506965db5dd9382d7ede084ba639edc55f77aaf73581c778969e02");
    add(
        map,
        VARIANT_PREFIX + "x64.so",
        977_688,
        "1174c3c3e0b8722313df561d7ef5ece516a070732cec9b8ddda3667c0b959728");
    add(
        map,
        VARIANT_PREFIX + "zen4.so",
        1_365_288,
        "d84208de33fdadb8921a1a1a34342f5eceb1e58b83648be68050f7557312bd3e");
    add(
        map,
        GGML_LIBRARY,
        55_184,
        "41cd5e6ad78b9f0af31a6f80d637d3168e75ff84db14c495de4d3d9c95607444");
    add(
        map,
        LLAMA_LIBRARY,
        4_620_496,
        "2ecd1d85f68456573a664106a9039366b88231579fd65d9669c9a6ab41374fd4");
    return Map.copyOf(map);
  }

  private static void add(Map<String, Library> map, String name, long size, String sha256) {
    map.put(name, new Library(size, sha256));
  }
}
