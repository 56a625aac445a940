package io.steelyard.lab.worker;

import java.util.List;

/**
 * Who an engine is: the answer to {@code hello}.
 *
 * @param engine the engine's name, as in {@code --engine}
 * @param version its version, as its makers write it
 * @param backend the variant that this processor gets, such as a kernel tier or a library variant
 * @param libraries native libraries already loaded; those that come with the model are in {@link
 *     LoadReport}
 * @param precisions weight types that the engine can run
 * @param capabilities protocol calls served beyond the required ones, such as {@code layers}
 * @param hosted whether the process's runtime (the JVM) is one that the engine's users don't need;
 *     such an engine is judged without the runtime's share of memory and start-up
 * @param build a checksum of the engine's own code; results cached for one build are not used for
 *     another
 */
public record EngineInfo(
    String engine,
    String version,
    String backend,
    List<NativeLibrary> libraries,
    List<String> precisions,
    List<String> capabilities,
    boolean hosted,
    String build) {

  /**
   * A native library loaded into the worker.
   *
   * @param path the file
   * @param sha256 its checksum in lower-case hexadecimal
   */
  public record NativeLibrary(String path, String sha256) {}
}
