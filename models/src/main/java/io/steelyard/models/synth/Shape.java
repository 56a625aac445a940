package io.steelyard.models.synth;

/**
 * The shape of a decoder-only transformer of the Llama family.
 *
 * @param name the name on the command line
 * @param like the trained model that has this shape
 * @param architecture {@code general.architecture} in GGUF: {@code llama}, {@code qwen2} or {@code
 *     dream}
 * @param layers transformer blocks
 * @param hidden width of the residual stream
 * @param heads query heads
 * @param keyValueHeads key and value heads, a divisor of {@code heads}
 * @param feedForward width of the feed-forward part
 * @param vocabulary rows of the embedding
 * @param context longest sequence
 * @param ropeTheta base of the rotary frequencies
 * @param epsilon of the RMS norms
 * @param tied whether the output matrix is the embedding
 * @param biases whether queries, keys and values have biases
 */
public record Shape(
    String name,
    String like,
    String architecture,
    int layers,
    int hidden,
    int heads,
    int keyValueHeads,
    int feedForward,
    int vocabulary,
    int context,
    float ropeTheta,
    float epsilon,
    boolean tied,
    boolean biases) {

  /** Width of one head. */
  public int headSize() {
    return hidden / heads;
  }

  /** Width of all keys, and of all values, of one token. */
  public int keyValueWidth() {
    return headSize() * keyValueHeads;
  }
}
