/** How the next token is chosen from logits. */
package io.steelyard.models.sampling;
