package io.steelyard.stats;

import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** The random numbers of this module: the same seed gives the same figures on every machine. */
final class Seeds {

  private static final RandomGeneratorFactory<RandomGenerator> FACTORY =
      RandomGeneratorFactory.of("L64X128MixRandom");

  private Seeds() {}

  static RandomGenerator generator(long seed) {
    return FACTORY.create(seed);
  }

  /** Another generator, seeded by this one's next number. */
  static RandomGenerator next(RandomGenerator seeds) {
    return generator(seeds.nextLong());
  }
}
