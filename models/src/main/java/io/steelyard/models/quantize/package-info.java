/** Turns a model's matrices into other types: which type each gets, and the writing. */
package io.steelyard.models.quantize;
