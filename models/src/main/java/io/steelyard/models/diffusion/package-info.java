/** Text by masked diffusion: masks are filled in over several passes, in any order. */
package io.steelyard.models.diffusion;
