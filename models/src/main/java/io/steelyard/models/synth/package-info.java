/**
 * Seeded random models in the shape of real ones, for measuring speed where no trained model is to
 * be had. They have a working tokenizer, load in any engine that reads GGUF, and say that they are
 * random.
 */
package io.steelyard.models.synth;
