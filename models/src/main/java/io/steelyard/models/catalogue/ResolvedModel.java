package io.steelyard.models.catalogue;

import java.nio.file.Path;

/**
 * A model that is on this machine.
 *
 * @param name its name in the catalogue, its {@code synth:} name, or the path that was given
 * @param file the GGUF file, or the folder with safetensors files; an absolute path
 * @param sha256 checksum of the file, or of the safetensors files in the order of their names, 64
 *     hexadecimal digits
 * @param source where it came from: "cache", an address, "pip …", "generated", "local file"
 * @param random whether its weights are random, so that its output means nothing
 */
public record ResolvedModel(String name, Path file, String sha256, String source, boolean random) {}
