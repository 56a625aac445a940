/** Decoding of stored tensor types to float32, bit for bit as ggml does it. */
package io.steelyard.kernels.codec;
