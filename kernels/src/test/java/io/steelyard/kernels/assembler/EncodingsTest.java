package io.steelyard.kernels.assembler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Every instruction against what the GNU assembler makes of its text. The golden file is made anew
 * by running this test with {@code -Dsteelyard.golden.update=true} where binutils are installed.
 */
final class EncodingsTest {
  private static final Path GOLDEN = Path.of("src/test/resources/encodings.tsv");
  private static final Pattern DISASSEMBLED =
      Pattern.compile("^ *[0-9a-f]+:\\t((?:[0-9a-f]{2} )+)");

  @Test
  void everyInstructionIsEncodedAsTheGnuAssemblerDoes() throws Exception {
    Map<String, String> ours = Encodings.all();
    if (Boolean.getBoolean("steelyard.golden.update")) {
      Files.write(GOLDEN, assemble(List.copyOf(ours.keySet())));
    }
    Map<String, String> golden = new LinkedHashMap<>();
    for (String line : Files.readAllLines(GOLDEN)) {
      int tab = line.indexOf('\t');
      golden.put(line.substring(tab + 1), line.substring(0, tab));
    }

    assertThat(golden).hasSizeGreaterThan(2_000);
    assertThat(ours.keySet()).isEqualTo(golden.keySet());
    assertThat(ours).containsExactlyEntriesOf(golden);
  }

  private static List<String> assemble(List<String> texts)
      throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("encodings");
    Path source = folder.resolve("all.s");
    Path object = folder.resolve("all.o");
    Files.writeString(source, ".intel_syntax noprefix\n" + String.join("\n", texts) + "\n");
    run("as", "-o", object.toString(), source.toString());
    String listing = run("objdump", "-d", "--insn-width=16", object.toString());
    List<String> hex =
        listing
            .lines()
            .map(DISASSEMBLED::matcher)
            .filter(Matcher::find)
            .map(matcher -> matcher.group(1).replace(" ", ""))
            .toList();
    assertThat(hex).hasSameSizeAs(texts);
    return IntStream.range(0, texts.size())
        .mapToObj(i -> hex.get(i) + "\t" + texts.get(i))
        .toList();
  }

  private static String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }
}
