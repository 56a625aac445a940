/** Model files, tokenizers, architectures and decoding. */
package io.steelyard.models;
