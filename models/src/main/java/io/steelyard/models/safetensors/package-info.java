/**
 * Models as Hugging Face publishes them: a folder of {@code .safetensors} files with {@code
 * config.json} and {@code tokenizer.json}, presented as GGUF describes models.
 *
 * <p>Sources: the <a
 * href="https://github.com/huggingface/safetensors/blob/main/README.md#format">safetensors
 * format</a>; the configurations of the transformers library; and, for GGUF's names and layouts,
 * what llama.cpp's {@code convert_hf_to_gguf.py} writes.
 */
package io.steelyard.models.safetensors;
