package io.steelyard.engines.steelyard;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.gguf.GgufFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.function.UnaryOperator;

/**
 * Faults that real engines have shipped, planted in a copy of the model file or in the arithmetic.
 */
enum Fault {
  /** Every rotation angle but the first is 1 % off. */
  ROPE,
  /** The norms' epsilon is a hundred times too large. */
  EPSILON,
  /** One row of one matrix of a middle layer is zero. */
  ROW,
  /** The scale of one norm is missing: its weights are all one. */
  SCALE,
  /** One token id of one text is wrong. */
  TOKEN,
  /** One layer's feed-forward output replaces the residual stream instead of being added to it. */
  RESIDUAL;

  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;

  private void change(MemorySegment file, GgufFile gguf) {
    switch (this) {
      case ROPE -> scaleReal(file, ".rope.freq_base", 1.01f);
      case EPSILON -> scaleReal(file, ".attention.layer_norm_rms_epsilon", 100f);
      case ROW -> zeroFirst(file, middle(gguf, "ffn_down"), 1);
      case SCALE -> fillOnes(file, middle(gguf, "ffn_norm"));
      case TOKEN, RESIDUAL -> {} // planted elsewhere
    }
  }

  /** A copy of a model file with this fault. */
  Path plant(Path model, Path copy) {
    try (Arena arena = Arena.ofConfined()) {
      Files.copy(model, copy, StandardCopyOption.REPLACE_EXISTING);
      try (FileChannel channel =
          FileChannel.open(copy, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        MemorySegment file = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena);
        change(file, GgufFile.of(file, copy.toString()));
        file.force();
      }
      return copy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kernels with this fault in their arithmetic. */
  UnaryOperator<Kernels> arithmetic() {
    return this == RESIDUAL ? DroppedResidual::new : UnaryOperator.identity();
  }

  private static Tensor middle(GgufFile gguf, String name) {
    long layers = gguf.tensorNames().stream().filter(n -> n.endsWith(name + ".weight")).count();
    return gguf.require("blk." + layers / 2 + "." + name + ".weight");
  }

  private static long offset(MemorySegment file, Tensor tensor) {
    return tensor.data().address() - file.address();
  }

  private static void zeroFirst(MemorySegment file, Tensor tensor, int rows) {
    file.asSlice(offset(file, tensor), rows * tensor.rowBytes()).fill((byte) 0);
  }

  private static void fillOnes(MemorySegment file, Tensor norm) {
    if (norm.type() != DataType.F32) {
      throw new IllegalArgumentException(norm.name() + " is " + norm.type());
    }
    for (long i = 0; i < norm.columns(); i++) {
      file.set(FLOAT, offset(file, norm) + 4 * i, 1f);
    }
  }

  /** Metadata: the key's bytes, then its type (4 bytes), then the value. */
  private static void scaleReal(MemorySegment file, String keyEnd, float factor) {
    byte[] key = keyEnd.getBytes(StandardCharsets.UTF_8);
    for (long at = 0; at < file.byteSize() - key.length - 8; at++) {
      if (file.asSlice(at, key.length).mismatch(MemorySegment.ofArray(key)) < 0) {
        long value = at + key.length + 4;
        file.set(FLOAT, value, file.get(FLOAT, value) * factor);
        return;
      }
    }
    throw new IllegalArgumentException("the file has no key that ends with " + keyEnd);
  }
}
