package io.steelyard.models.pickle;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.models.Mutations;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Reads mutated archives, and mutated pickles inside whole archives; see {@link Mutations}. */
class PickleFuzzTest {
  private static final long SEED = 20_261_129;

  @Test
  void survivesTwoThousandMutations() throws IOException {
    fuzz(2_000);
  }

  @Test
  @Tag("soak")
  void survivesTwoHundredThousandMutations() throws IOException {
    fuzz(200_000);
  }

  private static void fuzz(int count) throws IOException {
    Mutations.Outcome outcome =
        Mutations.survive(
            "fuzz.bin",
            SEED,
            count,
            List.of(
                TorchFileTest.resource("types.bin"), TorchFileTest.resource("types-protocol4.bin")),
            PickleFuzzTest::mutate,
            PickleFuzzTest::touch);
    // A mutation that always or never hurts would test nothing.
    assertThat(outcome.read()).isGreaterThan(count / 50);
    assertThat(outcome.refused()).isGreaterThan(count / 5);
  }

  private static byte[] mutate(byte[] original, SplittableRandom random) {
    if (random.nextInt(3) == 0) {
      return Mutations.bytes(original, random);
    }
    // The pickle alone, with its size kept: the archive stays whole around it.
    Map<String, MemorySegment> entries = Archive.read("", MemorySegment.ofArray(original));
    List<String> names = new ArrayList<>(entries.keySet());
    names.removeIf(name -> !name.endsWith("data.pkl"));
    byte[] pickle = entries.get(names.getFirst()).toArray(ValueLayout.JAVA_BYTE);
    byte[] mutated = Mutations.bytes(pickle, random);
    byte[] bytes = original.clone();
    int at = at(bytes, pickle);
    System.arraycopy(mutated, 0, bytes, at, Math.min(mutated.length, pickle.length));
    return bytes;
  }

  private static int at(byte[] all, byte[] part) {
    MemorySegment file = MemorySegment.ofArray(all);
    MemorySegment wanted = MemorySegment.ofArray(part);
    int at = 0;
    while (file.asSlice(at, part.length).mismatch(wanted) >= 0) {
      at++;
    }
    return at;
  }

  private static void touch(byte[] bytes) {
    for (PickledTensor tensor : TorchFile.read("fuzz.bin", MemorySegment.ofArray(bytes))) {
      if (tensor.data().byteSize() > 0) {
        tensor.data().get(ValueLayout.JAVA_BYTE, tensor.data().byteSize() - 1);
      }
    }
  }
}
