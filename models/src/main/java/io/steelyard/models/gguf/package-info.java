/**
 * GGUF model files: reading by mapping, writing by streaming.
 *
 * <p>Source: the <a href="https://github.com/ggml-org/ggml/blob/master/docs/gguf.md">GGUF
 * specification</a>, versions 2 and 3, little-endian.
 */
package io.steelyard.models.gguf;
