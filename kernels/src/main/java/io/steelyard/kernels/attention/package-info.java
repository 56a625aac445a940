/**
 * The attention laboratory: variants of attention, each a {@link
 * io.steelyard.kernels.attention.Variant}, all made of the same {@link
 * io.steelyard.kernels.AttentionBand}, and the {@link io.steelyard.kernels.attention.Oracle} that
 * each of them has to match.
 */
package io.steelyard.kernels.attention;
