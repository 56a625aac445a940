package io.steelyard.lab.environment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FrequencyTest {
  @TempDir private Path processors;

  private void processor(String name, String kilohertz) throws IOException {
    Path folder = Files.createDirectories(processors.resolve(name).resolve("cpufreq"));
    Files.writeString(folder.resolve("scaling_cur_freq"), kilohertz + "\n");
  }

  @Test
  void theMeanOfAllProcessorsIsTheClock() throws IOException {
    processor("cpu0", "2000000");
    processor("cpu11", "3000000");
    Files.createDirectories(processors.resolve("cpufreq"));

    assertThat(Frequency.megahertz(processors)).isEqualTo(2500);
  }

  @Test
  void whatCannotBeReadIsZero() throws IOException {
    assertThat(Frequency.megahertz(processors.resolve("missing"))).isZero();
    assertThat(Frequency.megahertz(processors)).isZero();
    processor("cpu0", "<unknown>");
    assertThat(Frequency.megahertz(processors)).isZero();
  }
}
