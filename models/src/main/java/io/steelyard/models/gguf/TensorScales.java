package io.steelyard.models.gguf;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.DataType.Scaling;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.ModelException;
import java.util.Optional;

/**
 * What lies beside a tensor's blocks is a tensor of its own: {@code blk.0.attn_q.scale} for {@code
 * blk.0.attn_q.weight}, as llama.cpp names that of NVFP4.
 */
public final class TensorScales {
  private static final String WEIGHT = ".weight";

  private TensorScales() {}

  /** The name of the tensor with the scales of another. */
  public static String name(String tensor) {
    String stem =
        tensor.endsWith(WEIGHT) ? tensor.substring(0, tensor.length() - WEIGHT.length()) : tensor;
    return stem + ".scale";
  }

  /**
   * The scales that a tensor has, if it has any.
   *
   * @param found the tensor of their name, null if there is none
   * @throws ModelException if one that needs scales has none, or has others than it needs
   */
  static Optional<HeaderReader.Description> of(
      String source, HeaderReader.Description tensor, HeaderReader.Description found) {
    Scaling scaling = tensor.type().scaling();
    if (scaling == Scaling.NONE || (found == null && scaling == Scaling.MAY_HAVE_SCALES)) {
      return Optional.empty();
    }
    if (found == null) {
      throw fault(source, tensor, "that is missing");
    }
    long count = found.columns() * found.rows();
    if (found.type() != DataType.F32
        || !Tensor.fits(tensor.type(), tensor.columns(), tensor.rows(), count)) {
      throw fault(source, tensor, "that has %d values of %s".formatted(count, found.type()));
    }
    return Optional.of(found);
  }

  private static ModelException fault(String source, HeaderReader.Description tensor, String what) {
    return new ModelException(
        "%s is damaged or incomplete: tensor '%s' of %d × %d values of %s needs scales in '%s', and %s; quantize the model again"
            .formatted(
                source,
                printable(tensor.name()),
                tensor.rows(),
                tensor.columns(),
                tensor.type(),
                printable(name(tensor.name())),
                what));
  }
}
