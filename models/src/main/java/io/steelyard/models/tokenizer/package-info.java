/** Text to token ids and back, by the vocabulary that a model file carries. */
package io.steelyard.models.tokenizer;
