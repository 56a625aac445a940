/**
 * Text by masked diffusion: masks are filled in over several passes, in any order, or block by
 * block.
 */
package io.steelyard.models.diffusion;
