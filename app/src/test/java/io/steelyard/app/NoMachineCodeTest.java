package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Commands where no machine code can run. Here it can, so they are told of another architecture, by
 * a name that Java itself takes for the same; but not the workers, which inherit no such flags.
 */
final class NoMachineCodeTest {
  private static final String TINY = "../models/src/test/resources/io/steelyard/models/tiny/";
  private static final String MODEL = TINY + "llama-tied/llama-tied.gguf";
  private static final String MASKED = TINY + "dream/dream.gguf";

  private static final String NOTICE =
      "steelyard: no machine-code kernels (it needs Linux on x86-64, and this is Linux on x86_64):"
          + " the vector tier serves";

  @TempDir private Path folder;

  /** What a command says on stderr. */
  private List<String> said(int code, List<String> arguments)
      throws IOException, InterruptedException {
    assumeTrue(
        System.getProperty("os.arch").equals("amd64"), "not applicable here: no second name");
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(List.of("-Dos.arch=x86_64", "--enable-native-access=ALL-UNNAMED"));
    line.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    line.addAll(arguments);
    Path errors = folder.resolve("errors.txt");
    ProcessBuilder builder = new ProcessBuilder(line).redirectError(errors.toFile());
    builder.environment().remove("STEELYARD_TIER");
    Process process = builder.start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    List<String> said = Files.readAllLines(errors);
    assertThat(process.waitFor()).as("%s\n%s", out, said).isEqualTo(code);
    return said;
  }

  private static List<String> words(String command) {
    return List.of(command.split(" "));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "generate -n 3 -m " + MODEL + " abc",
        "generate -n 3 -e steelyard:deterministic=on -m " + MODEL + " abc",
        "generate -n 4 --diffuse --steps 2 -m " + MASKED + " abc",
        "model logits " + MODEL + " --ids 1,2 --out target/no-machine-code.f32",
        "bench prefill --prompt 4 --forks 1 --trials 1 --runs target/no-machine-code -m " + MODEL,
        "bench batch --parallel 1,2 --rounds 6 --prompt 3 --gen 2 -m " + MODEL,
        "bench generate --rounds 2 --prompt 3 --lengths 2 -m " + MODEL,
        "bench matmul --type F32 --shape llama-135m --tokens 1 --millis 1"
      })
  void oneLineNamesTheTierThatServesAndTheReason(String command) throws Exception {
    assertThat(said(ExitCode.FINE, words(command))).containsOnlyOnce(NOTICE);
  }

  @Test
  void oneLineDoesOfManyPromptsToo() throws Exception {
    Path prompts = Files.writeString(folder.resolve("prompts.txt"), "abc\ndef\n");

    assertThat(
            said(
                ExitCode.FINE,
                List.of("generate", "--batch", prompts.toString(), "-n", "3", "-m", MODEL)))
        .containsOnlyOnce(NOTICE);
  }

  /** It ends at a variant that there isn't, which is looked at later. */
  @Test
  void oneLineDoesOfAttentionToo() throws Exception {
    assertThat(
            said(
                ExitCode.USAGE,
                words("attention range custom --lengths 64 --variants no-such-variant")))
        .containsOnlyOnce(NOTICE);
  }

  @Test
  void aTierThatWasAskedForNeedsNoLine() throws Exception {
    assertThat(
            said(
                ExitCode.FINE,
                words("generate -n 3 -e steelyard:tier=vector -m " + MODEL + " abc")))
        .noneMatch(line -> line.contains("tier"));
  }
}
