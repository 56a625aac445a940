package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import picocli.CommandLine;

/**
 * Runs every command that the documentation shows: the lines of its {@code sh} blocks, in order, in
 * one folder. The examples in the help texts are parsed, not run.
 */
final class DocumentedCommandsTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Duration PATIENCE = Duration.ofMinutes(9);

  /**
   * The first takes four minutes, the others one at most, or a few where others work on the
   * machine; commands are compared in the rest, too.
   */
  private static final List<String> LONG =
      List.of(
          "./steelyard compare",
          "./steelyard compare --quick --metrics decode --gen 32 --json",
          "./steelyard history trend tg32 --label steelyard",
          "./steelyard bench decode --engine llamacpp --gen 16 --quick -o csv",
          "./steelyard bench decode --gen 16 --profile",
          "./steelyard parity steelyard:tier=reference steelyard:tier=vector",
          "./steelyard bench java docs/examples/Joins.java --quick",
          "./steelyard attention quick",
          "./steelyard attention range custom --lengths 512,2K --variants"
              + " flash,improved-dilated --quick",
          "./steelyard attention range document --variants flash,block-sparse --quick",
          "./steelyard attention impact --variants dilated --lengths 8K --quick",
          "./steelyard attention extreme --variants flash,improved-dilated --memory 1G --time 2s"
              + " --max 64K",
          "./steelyard attention accuracy --variants flash,sparse:pattern=learned --density"
              + " 0.25,0.1",
          "./steelyard attention accuracy --windows 2 --variants"
              + " flash,sparse:pattern=top-k,share=0.0006,"
              + "sparse:pattern=learned,block=8,share=0.0002,keys=0.0001,"
              + "sparse:pattern=learned,block=8,share=0.0005,keys=0.0006",
          "./steelyard attention accuracy --variants sparse:pattern=learned,share=0.0062,"
              + "sparse:pattern=learned,rest=means,sparse:pattern=dynamic-threshold"
              + " --density 0.25",
          "./steelyard attention ring",
          "./steelyard compare --quick --metrics decode --gen 16 --engine llamacpp --engine"
              + " llamacpp:flash=off",
          "./steelyard compare --quick --metrics decode --engine steelyard --engine"
              + " steelyard:speculate=lookup --text docs/examples/code-edit.txt --gen 16");

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private static Path folder;

  private record Documented(String file, String command) {}

  @TestFactory
  Stream<DynamicTest> everyCommandOfTheDocumentationRuns() throws IOException {
    link();
    return commands().stream()
        .filter(documented -> !LONG.contains(documented.command()))
        .map(
            documented ->
                DynamicTest.dynamicTest(
                    documented.file() + ": " + documented.command(),
                    () -> runs(documented.command())));
  }

  @ParameterizedTest
  @FieldSource("LONG")
  @Tag("soak")
  void theLongCommandsRun(String command) throws IOException, InterruptedException {
    link();
    runs(command);
  }

  @Test
  void theLongCommandsAreThoseOfTheDocumentation() throws IOException {
    assertThat(commands()).extracting(Documented::command).containsAll(LONG);
  }

  private static void link() throws IOException {
    Path link = folder.resolve("steelyard");
    if (Files.notExists(link)) {
      Files.createSymbolicLink(link, ROOT.resolve("steelyard"));
      Files.createSymbolicLink(folder.resolve("docs"), ROOT.resolve("docs"));
    }
  }

  private static void runs(String command) throws IOException, InterruptedException {
    Path output = Files.createTempFile(folder, "output-", ".txt");
    Process process =
        new ProcessBuilder("bash", "-c", command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    boolean ended = process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    process.destroyForcibly();
    assertThat(ended).as("%s ends\n%s", command, Files.readString(output)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(output)).isZero();
  }

  @Test
  void theDocumentationShowsCommands() throws IOException {
    assertThat(commands()).hasSizeGreaterThan(5);
  }

  /**
   * `./verify` runs this test, and Maven's own commands run tests: neither can be run inside one.
   */
  private static List<Documented> commands() throws IOException {
    List<Documented> commands = new ArrayList<>();
    for (Path file : documents()) {
      boolean shell = false;
      for (String line : Files.readAllLines(file)) {
        if (line.startsWith("```")) {
          shell = line.equals("```sh");
        } else if (shell
            && !line.isBlank()
            && !line.startsWith("./verify")
            && !line.startsWith("mvn ")) {
          commands.add(new Documented(ROOT.relativize(file).toString(), line));
        }
      }
    }
    return commands;
  }

  private static List<Path> documents() throws IOException {
    List<Path> documents = new ArrayList<>();
    documents.add(ROOT.resolve("README.md"));
    documents.add(ROOT.resolve("CONTRIBUTING.md"));
    try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
      docs.filter(path -> path.toString().endsWith(".md")).sorted().forEach(documents::add);
    }
    return documents;
  }

  @Test
  void everyExampleOfTheHelpParses() {
    CommandLine root = Main.commandLine();
    List<String> examples = new ArrayList<>();
    collect(root, examples);
    assertThat(examples).hasSizeGreaterThan(15);
    for (String example : examples) {
      String arguments =
          example.substring(example.indexOf("./steelyard ") + "./steelyard ".length()).strip();
      root.parseArgs(split(arguments.replaceFirst("   +[a-z].*$", "")));
    }
  }

  private static void collect(CommandLine line, List<String> examples) {
    for (String text : line.getCommandSpec().usageMessage().footer()) {
      if (text.contains("./steelyard ")) {
        examples.add(text);
      }
    }
    line.getSubcommands().values().forEach(sub -> collect(sub, examples));
  }

  /** Words as a shell would split them; quotes hold words together. */
  private static String[] split(String text) {
    List<String> words = new ArrayList<>();
    StringBuilder word = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ' ' && !quoted) {
        if (!word.isEmpty()) {
          words.add(word.toString());
        }
        word.setLength(0);
      } else {
        word.append(c);
      }
    }
    if (!word.isEmpty()) {
      words.add(word.toString());
    }
    return words.toArray(String[]::new);
  }
}
