package io.steelyard.models;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.gguf.GgufFile;
import io.steelyard.models.gguf.Metadata;
import io.steelyard.models.safetensors.SafetensorsModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A model on disk as GGUF describes models, whatever the format it is stored in: metadata, and
 * tensors under GGUF's names in GGUF's layouts.
 *
 * <p>Closing it unmaps its files: the data of its tensors can't be read after that, its {@link
 * #metadata} can.
 */
public interface ModelFile extends AutoCloseable {
  /**
   * Opens a GGUF file, any one of the files that a model in GGUF was split into, or a folder with
   * safetensors or PyTorch files, or one of these files.
   *
   * @throws ModelException if it can't be read, is damaged, or holds what isn't supported
   */
  static ModelFile open(Path path) {
    return SafetensorsModel.isSafetensors(path) ? SafetensorsModel.open(path) : GgufFile.open(path);
  }

  /**
   * The files that a model's tensors lie in, by name: the GGUF file itself or all shards of its
   * model, or the safetensors files of a folder.
   *
   * @throws ModelException if there are none, one is missing, or their index is damaged
   */
  static List<Path> files(Path path) {
    return SafetensorsModel.isSafetensors(path)
        ? SafetensorsModel.files(path)
        : GgufFile.files(path);
  }

  /**
   * Bytes of the files that a model's tensors lie in.
   *
   * @throws ModelException if one of them can't be read
   */
  static long bytes(Path path) {
    long bytes = 0;
    for (Path file : files(path)) {
      try {
        bytes += Files.size(file);
      } catch (IOException e) {
        throw new ModelException(file + " can't be read: " + FileFailure.reason(e), e);
      }
    }
    return bytes;
  }

  /** The file or folder as it was given; of a GGUF model in several files the first. */
  Path path();

  /** What it is stored as, for people: "GGUF version 3", "safetensors, 2 files". */
  String format();

  /** Bytes of the files with tensors when they were opened. */
  long fileSize();

  /** The key-value part. */
  Metadata metadata();

  /**
   * All tensors in the order of the file. What isn't stored as GGUF has it is converted when it is
   * reached.
   */
  Collection<Tensor> tensors();

  /** Names of all tensors in the order of the file. */
  Collection<String> tensorNames();

  /**
   * A tensor: the contiguous dimension as columns, the product of all others as rows; its data lies
   * in the mapped file, or in memory where it had to be converted.
   */
  Optional<Tensor> tensor(String name);

  /**
   * A tensor that must be there.
   *
   * @throws ModelException if it isn't
   */
  default Tensor require(String name) {
    return tensor(name)
        .orElseThrow(
            () ->
                new ModelException(
                    "%s has no tensor '%s'; the model needs it".formatted(path(), name)));
  }

  /**
   * A tensor's sizes, the contiguous one first: two for a matrix, three for the matrices of
   * experts.
   *
   * @throws ModelException if it isn't there
   */
  long[] dimensions(String name);

  /** Bytes of tensor data by type, in the order of {@link DataType}. */
  Map<DataType, Long> bytesByType();

  /** Bytes of each tensor by its name, in the order of the file; nothing is converted for it. */
  Map<String, Long> bytesByTensor();

  /** Number of weights in all tensors. */
  long parameters();

  /**
   * Makes sure that the mapped files are still those that were opened; to be called after loading,
   * or when a result is suspect.
   *
   * @throws ModelException if one was overwritten, cut, or replaced
   */
  void checkUnchanged();

  @Override
  void close();
}
