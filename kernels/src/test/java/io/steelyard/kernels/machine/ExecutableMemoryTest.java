package io.steelyard.kernels.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.amx.Amx;
import io.steelyard.kernels.avx2.Avx2;
import io.steelyard.kernels.avx512.Avx512;
import io.steelyard.kernels.codec.Repacker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(
    value = OS.LINUX,
    disabledReason = "not applicable here: only Linux says what is mapped")
class ExecutableMemoryTest {
  /** What the system says of a range of addresses. */
  private record Mapping(long from, long to, String rights) {
    /** Reads a line such as {@code 7f12a000-7f12b000 r-xp 00000000 00:00 0}. */
    static Mapping of(String line) {
      String[] words = line.split(" ", 3);
      String[] range = words[0].split("-", 2);
      return new Mapping(
          Long.parseUnsignedLong(range[0], 16), Long.parseUnsignedLong(range[1], 16), words[1]);
    }

    boolean holds(long address) {
      return Long.compareUnsigned(from, address) <= 0 && Long.compareUnsigned(address, to) < 0;
    }

    boolean isWritableCode() {
      return rights.contains("w") && rights.contains("x");
    }
  }

  /** Every function of every tier: they are mapped here, if not all can be called. */
  @Test
  void noFunctionsMemoryIsWritable() throws IOException {
    Set<Long> before = writableCode();

    List<Function> made = new ArrayList<>();
    for (MachineCode code : List.of(new Avx2(), new Avx512(), new Amx())) {
      made.addAll(functions(code));
    }

    List<Mapping> mappings = mappings();
    for (Function function : made) {
      assertThat(mappings)
          .filteredOn(mapping -> mapping.holds(function.address()))
          .singleElement()
          .extracting(Mapping::rights)
          .isEqualTo("r-xp");
    }
    // The JVM's own code is writable. It may grow, but begins where it began.
    assertThat(writableCode()).isSubsetOf(before);
  }

  private static List<Function> functions(MachineCode code) {
    List<Function> functions = new ArrayList<>();
    for (MachineCode.Single single : MachineCode.Single.values()) {
      functions.add(code.single(single));
    }
    for (DataType type : DataType.values()) {
      if (Repacker.target(type) == type) {
        functions.add(code.few(type, 1));
        functions.add(code.few(type, code.fewTokens(type)));
        functions.add(code.product(code.product(type), 1));
        code.tiles().ifPresent(tiles -> functions.add(tiles.product(tiles.splits(type))));
      }
    }
    return functions;
  }

  private static List<Mapping> mappings() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/maps")).stream().map(Mapping::of).toList();
  }

  /** Where memory begins that is writable and executable at once. */
  private static Set<Long> writableCode() throws IOException {
    return mappings().stream()
        .filter(Mapping::isWritableCode)
        .map(Mapping::from)
        .collect(Collectors.toSet());
  }
}
