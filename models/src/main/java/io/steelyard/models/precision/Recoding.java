package io.steelyard.models.precision;

import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.quantize.Quantizer;
import java.nio.file.Path;

/** A model whose matrices are to be stored in another precision. Vectors stay as they are. */
public final class Recoding {
  /** Goes up whenever the same source would give another file than before. */
  public static final int GENERATION = 2;

  private final ModelFile source;
  private final Quantizer.Choice choice;

  public Recoding(ModelFile source, Precision precision) {
    this.source = source;
    choice = Quantizer.Choice.of(precision.scheme());
  }

  /** Whether the source is stored so already. */
  public boolean changesNothing() {
    return Quantizer.plan(source, choice).stream().noneMatch(Quantizer.Plan::encoded);
  }

  /**
   * Writes the model as a GGUF file.
   *
   * @throws ModelException if it can't be written, or a weight is no finite number
   */
  public void write(Path out, ProgressListener listener) {
    Quantizer.write(source, choice, out, ProgressListener.NONE, listener);
  }
}
