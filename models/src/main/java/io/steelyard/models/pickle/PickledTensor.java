package io.steelyard.models.pickle;

import java.lang.foreign.MemorySegment;

/**
 * A tensor of a PyTorch file.
 *
 * @param name its name in the file's dictionary
 * @param type element type as safetensors files name it: {@code F32}, {@code BF16}, {@code I64}
 * @param shape sizes, the contiguous one last; none for a scalar
 * @param data exactly the elements, in order; tensors that share a storage share their bytes
 */
public record PickledTensor(String name, String type, long[] shape, MemorySegment data) {}
