package io.steelyard.models.catalogue;

import io.steelyard.models.UnknownNameException;
import io.steelyard.models.synth.PrecisionMix;
import io.steelyard.models.synth.Shape;
import io.steelyard.models.synth.Synth;

/**
 * The name {@code synth:SHAPE[:TYPE[:SEED]]} of a random model.
 *
 * @param shape its shape
 * @param mix the types of its matrices, Q8_0 unless named
 * @param seed of its weights, 1 unless named
 */
record SynthName(Shape shape, PrecisionMix mix, long seed) {
  static final String PREFIX = "synth:";

  private static final PrecisionMix DEFAULT_MIX = PrecisionMix.Q8_0;
  private static final long DEFAULT_SEED = 1;

  static SynthName parse(String name) {
    String[] parts = name.substring(PREFIX.length()).split(":", -1);
    if (parts.length > 3) {
      throw new UnknownNameException(
          "'%s' has too many parts; a random model is named synth:SHAPE[:TYPE[:SEED]]"
              .formatted(name));
    }
    Shape shape = Synth.shapeOf(parts[0]);
    PrecisionMix mix = parts.length > 1 ? Synth.mixOf(parts[1]) : DEFAULT_MIX;
    long seed = DEFAULT_SEED;
    if (parts.length > 2) {
      try {
        seed = Long.parseLong(parts[2]);
      } catch (NumberFormatException e) {
        throw new UnknownNameException("the seed '%s' is no whole number".formatted(parts[2]));
      }
    }
    return new SynthName(shape, mix, seed);
  }

  /** The full name: equal models have equal names. */
  String canonical() {
    return "%s%s:%s:%d".formatted(PREFIX, shape.name(), mix.name(), seed);
  }

  /** Name of the file in the cache; another generation of weights needs another file. */
  String fileName() {
    return "synth-%s-%s-seed%d-v%d.gguf"
        .formatted(shape.name(), mix.name(), seed, Synth.GENERATION);
  }
}
