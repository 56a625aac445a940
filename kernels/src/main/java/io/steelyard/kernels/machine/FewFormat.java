package io.steelyard.kernels.machine;

/**
 * How the functions for few tokens take a token's activations: blocks of 32, then what is behind
 * them all for each block, its scale or something instead, then the blocks' sums. Eight blocks may
 * lie in an order of their own.
 *
 * @param numbers what values become: {@code int8} or {@code int16}
 * @param function writes them: see {@link MachineCode#few}
 * @param block bytes of a block
 * @param scale bytes of what is behind the blocks for each
 * @param sum bytes of a block's sums, 0 for none
 */
public record FewFormat(
    String numbers, MachineCode.Single function, int block, int scale, int sum) {}
