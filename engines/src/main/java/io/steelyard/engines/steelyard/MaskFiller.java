package io.steelyard.engines.steelyard;

import io.steelyard.lab.worker.DecodeReport;
import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.TokenListener;
import io.steelyard.models.diffusion.Diffusion;
import io.steelyard.models.diffusion.DiffusionDecoder;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Generates by masked diffusion: tokens are chosen in any order, so the times of a report are those
 * at which one, two, three … of them were known.
 */
final class MaskFiller {
  private final LoadedModel model;
  private final Filling filling;

  MaskFiller(LoadedModel model, Filling filling) {
    this.model = model;
    this.filling = filling;
  }

  DecodeReport run(DecodeRequest request, TokenListener listener) throws EngineException {
    if (request.tokens() == 0) {
      return new DecodeReport(new int[0], new long[0], new float[0], Optional.of(0));
    }
    Diffusion diffusion = filling.diffusion(request);
    OptionalInt mask = DiffusionDecoder.mask(model.model().metadata());
    if (mask.isEmpty()) {
      throw new EngineException(
          Kind.BAD_MODEL,
          "the model's file doesn't say which token is the mask (%s)"
              .formatted(DiffusionDecoder.MASK_KEY));
    }
    int vocabulary = model.session().vocabulary();
    if (mask.getAsInt() >= vocabulary) {
      throw new EngineException(
          Kind.BAD_MODEL,
          "the model's mask %d is outside its vocabulary of %d; the file is damaged"
              .formatted(mask.getAsInt(), vocabulary));
    }
    model.reset();
    DiffusionDecoder decoder = new DiffusionDecoder(model.session(), mask.getAsInt());
    int[] prompt = request.ids();
    long[] nanos = new long[request.tokens()];
    int[] passes = new int[1];
    long start = System.nanoTime();
    int[] sequence =
        decoder.generate(
            prompt,
            diffusion,
            filling.blocks(),
            (_, positions, _) -> {
              long now = System.nanoTime() - start;
              passes[0]++;
              for (int position : positions) {
                if (position >= prompt.length) {
                  nanos[position - prompt.length] = now;
                }
              }
            });
    model.slowdown().since(start);
    long end = System.nanoTime() - start;
    Arrays.sort(nanos);
    // The last is known when all is done; a mask that the model chose itself has no time before.
    nanos[nanos.length - 1] = end;
    int[] ids = Arrays.copyOfRange(sequence, prompt.length, sequence.length);
    if (request.stream()) {
      for (int id : ids) {
        listener.token(id);
      }
    }
    return new DecodeReport(ids, nanos, new float[0], Optional.of(passes[0]));
  }
}
