package io.steelyard.models.quantize;

/** Which tensors of a model are matrices whose precision may be lowered. */
public final class WeightTensors {
  private WeightTensors() {}

  /**
   * Whether a tensor keeps its precision in every file: llama.cpp's rule for vectors, norms,
   * positions and routers.
   */
  public static boolean staysFloat(String name, int dimensions) {
    return dimensions <= 1
        || name.endsWith("_norm.weight")
        || !name.endsWith(".weight")
        || name.equals("position_embd.weight")
        || name.endsWith(".ffn_gate_inp.weight");
  }
}
