package io.steelyard.models;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Reads mutated files. Whatever the mutation, the outcome is what the reader makes of it or a
 * {@link ModelException} that names the file, within a second of processor time and 16 × the file +
 * 64 MB.
 *
 * <p>The short runs are part of every test; those of a million in all carry {@code @Tag("soak")}.
 */
public final class Mutations {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final long NANOS_ALLOWED = 1_000_000_000L;

  private static final List<String> AWKWARD =
      List.of(
          "-1",
          "0",
          "1",
          "-9223372036854775808",
          "9223372036854775807",
          "18446744073709551616",
          "4611686018427387904",
          "1e300",
          "-1e-300",
          "0.5",
          "2147483647",
          "null",
          "true",
          "\"\"",
          "\"a\"",
          "[]",
          "{}",
          "[[[[[[[[[[",
          "{\"a\":",
          "\"dtype\"",
          "\"type\"",
          "F64",
          "F4",
          "\\u0000",
          "\\ud800",
          ",",
          "}",
          "]",
          "▁",
          "99999999999999999999999");

  /** Changes a copy of a file. */
  @FunctionalInterface
  public interface Mutation {
    byte[] of(byte[] original, SplittableRandom random);
  }

  /** Reads a file, and all of it that matters. */
  @FunctionalInterface
  public interface Reader {
    void read(byte[] file) throws Exception;
  }

  /**
   * What became of the files.
   *
   * @param read those that were read
   * @param refused those that were refused
   */
  public record Outcome(int read, int refused) {}

  private Mutations() {}

  /**
   * Reads {@code count} mutations of some files in turn.
   *
   * @param name what messages must call the file
   */
  public static Outcome survive(
      String name, long seed, int count, List<byte[]> originals, Mutation mutation, Reader reader) {
    int read = 0;
    for (int i = 0; i < count; i++) {
      byte[] file =
          mutation.of(originals.get(i % originals.size()), new SplittableRandom(seed + i));
      String what = "seed " + seed + " + " + i;
      long allocated = THREADS.getCurrentThreadAllocatedBytes();
      long nanos = THREADS.getCurrentThreadCpuTime();
      try {
        reader.read(file);
        read++;
      } catch (ModelException e) {
        assertThat(e).as(what).hasMessageContaining(name);
      } catch (Exception | Error e) {
        throw new AssertionError(what + " gave " + e, e);
      }
      assertThat(THREADS.getCurrentThreadCpuTime() - nanos).as(what).isLessThan(NANOS_ALLOWED);
      assertThat(THREADS.getCurrentThreadAllocatedBytes() - allocated)
          .as(what)
          .isLessThan(16L * file.length + (64 << 20));
    }
    return new Outcome(read, count - read);
  }

  /** Bits, bytes and stretches anywhere. */
  public static byte[] bytes(byte[] original, SplittableRandom random) {
    byte[] bytes = original.clone();
    for (int left = 1 + random.nextInt(3); left > 0 && bytes.length > 0; left--) {
      int at = random.nextInt(bytes.length);
      switch (random.nextInt(6)) {
        case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> bytes[at] = (byte) random.nextInt();
        case 2 ->
            Arrays.fill(
                bytes,
                at,
                Math.min(bytes.length, at + 1 + random.nextInt(8)),
                (byte) -random.nextInt(2));
        case 3 -> {
          int from = random.nextInt(bytes.length);
          int length = Math.min(1 + random.nextInt(32), bytes.length - Math.max(at, from));
          System.arraycopy(bytes, from, bytes, at, length);
        }
        case 4 -> bytes = spliced(bytes, at, random);
        default -> {
          if (random.nextInt(4) == 0) {
            bytes = Arrays.copyOf(bytes, at);
          }
        }
      }
    }
    return bytes;
  }

  /** Takes some bytes out, or puts some in twice. */
  private static byte[] spliced(byte[] bytes, int at, SplittableRandom random) {
    int length = Math.min(1 + random.nextInt(16), bytes.length - at);
    int resume = random.nextBoolean() ? at : at + length;
    int kept = resume == at ? at + length : at;
    byte[] spliced = Arrays.copyOf(bytes, kept + bytes.length - resume);
    System.arraycopy(bytes, resume, spliced, kept, bytes.length - resume);
    return spliced;
  }

  /** Awkward text over a number, over some other text, or between. */
  public static byte[] text(byte[] original, SplittableRandom random) {
    if (random.nextInt(4) == 0) {
      return bytes(original, random);
    }
    String text = new String(original, StandardCharsets.UTF_8);
    String awkward = AWKWARD.get(random.nextInt(AWKWARD.size()));
    int at = random.nextInt(text.length());
    int end = at;
    switch (random.nextInt(3)) {
      case 0 -> {
        while (at < text.length() && !Character.isDigit(text.charAt(at))) {
          at++;
        }
        end = at;
        while (end < text.length() && Character.isDigit(text.charAt(end))) {
          end++;
        }
      }
      case 1 -> end = Math.min(text.length(), at + random.nextInt(12));
      default -> {}
    }
    return (text.substring(0, at) + awkward + text.substring(end)).getBytes(StandardCharsets.UTF_8);
  }
}
