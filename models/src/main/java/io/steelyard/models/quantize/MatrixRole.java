package io.steelyard.models.quantize;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a matrix is for, as far as its precision depends on that.
 *
 * @param layer from 0; 0 for what belongs to no layer
 */
record MatrixRole(Kind kind, int layer) {
  private static final Pattern IN_LAYER = Pattern.compile("blk\\.(\\d{1,6})\\.(.*)");

  enum Kind {
    /** Gives the logits; the embeddings do where the two are one. */
    OUTPUT,
    EMBEDDING,
    VALUES,
    KEYS,
    /** The second matrix of a feed-forward part. */
    DOWN,
    ATTENTION_OUTPUT,
    /** Queries, keys and values in one. */
    FUSED_ATTENTION,
    OTHER
  }

  /**
   * The role that a name tells.
   *
   * @param tied whether the embeddings give the logits, too
   */
  static MatrixRole of(String tensor, boolean tied) {
    if (tensor.equals("output.weight")) {
      return new MatrixRole(Kind.OUTPUT, 0);
    }
    if (tensor.equals("token_embd.weight")) {
      return new MatrixRole(tied ? Kind.OUTPUT : Kind.EMBEDDING, 0);
    }
    Matcher inLayer = IN_LAYER.matcher(tensor);
    if (!inLayer.matches()) {
      return new MatrixRole(Kind.OTHER, 0);
    }
    String part = inLayer.group(2);
    Kind kind =
        switch (part) {
          case "attn_v.weight" -> Kind.VALUES;
          case "attn_k.weight" -> Kind.KEYS;
          case "attn_output.weight" -> Kind.ATTENTION_OUTPUT;
          case "attn_qkv.weight" -> Kind.FUSED_ATTENTION;
          default -> part.startsWith("ffn_down") ? Kind.DOWN : Kind.OTHER;
        };
    return new MatrixRole(kind, Integer.parseInt(inLayer.group(1)));
  }
}
