package io.steelyard.models.synth;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.codec.Encoder;
import io.steelyard.models.gguf.GgufWriter;
import java.lang.foreign.MemorySegment;

/**
 * Random values of about normal distribution, encoded in a type that {@link Encoder} writes. Each
 * depends on the seed, the tensor's name and its own index alone.
 *
 * <p>A value is the sum of four 16-bit uniforms: it has the mean and deviation asked for and never
 * leaves ±3.5 deviations, which keeps the scales of quantised blocks even.
 */
final class RandomWeights implements GgufWriter.Content {
  private static final int RUN = 4096; // a multiple of every block size
  private static final int UNIFORM_SUM_MEAN = 2 * 65535;
  private static final double UNIFORM_SUM_DEVIATION = Math.sqrt((65536.0 * 65536.0 - 1) / 3);

  private final DataType type;
  private final SplitMix random;
  private final float mean;
  private final float scale;

  RandomWeights(DataType type, SplitMix random, double mean, double deviation) {
    this.type = type;
    this.random = random;
    this.mean = (float) mean;
    this.scale = (float) (deviation / UNIFORM_SUM_DEVIATION);
  }

  @Override
  public void fill(long from, MemorySegment part) {
    long first = from / type.blockBytes() * type.blockSize();
    long count = part.byteSize() / type.blockBytes() * type.blockSize();
    float[] values = new float[(int) Math.min(RUN, count)];
    for (long done = 0; done < count; done += values.length) {
      int run = (int) Math.min(values.length, count - done);
      generate(first + done, values, run);
      Encoder.encode(type, values, 0, run, part, type.bytes(done));
    }
  }

  private void generate(long first, float[] values, int count) {
    for (int i = 0; i < count; i++) {
      long bits = random.at(first + i);
      int sum =
          (int) (bits & 0xFFFF)
              + (int) ((bits >>> 16) & 0xFFFF)
              + (int) ((bits >>> 32) & 0xFFFF)
              + (int) (bits >>> 48);
      values[i] = mean + scale * (sum - UNIFORM_SUM_MEAN);
    }
  }
}
