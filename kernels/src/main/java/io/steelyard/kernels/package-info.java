/** Data types and codecs, off-heap tensors, and the operators of a transformer in several tiers. */
package io.steelyard.kernels;
