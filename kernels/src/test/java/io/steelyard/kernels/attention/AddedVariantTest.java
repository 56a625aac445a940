package io.steelyard.kernels.attention;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The example of {@code docs/adding-an-attention.md}, added as it says: its file compiled as the
 * build compiles, its line put into {@link Variants}. What is there then is loaded anew.
 */
final class AddedVariantTest {
  private static final Path DOCUMENT = Path.of("..", "docs", "adding-an-attention.md");

  private static final Path VARIANTS =
      Path.of("src", "main", "java").resolve(Variants.class.getName().replace('.', '/') + ".java");

  /** A variant is to take no more. */
  private static final int MOST_LINES = 30;

  @TempDir private Path folder;

  private String file;
  private String line;

  @BeforeEach
  void readBlocks() throws IOException {
    List<String> blocks =
        Pattern.compile("^```java\\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE)
            .matcher(Files.readString(DOCUMENT))
            .results()
            .map(block -> block.group(1))
            .toList();
    assertThat(blocks).hasSize(2);
    file = blocks.getFirst();
    line = blocks.getLast();
  }

  @Test
  void aVariantIsOneSmallFileAndOneLine() {
    assertThat(file.lines()).hasSizeLessThanOrEqualTo(MOST_LINES);
    assertThat(line.lines()).hasSize(1);
  }

  @Test
  void itIsFoundAndHeldToItsDefinitionByItself() throws Exception {
    String name = found("add\\(\"([^\"]+)\"", line);
    compile();

    try (URLClassLoader loader =
        new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
      Method check =
          loader.loadClass(VariantsTest.class.getName()).getDeclaredMethod("check", String.class);
      check.setAccessible(true);
      check.invoke(null, name);
    }
  }

  private static String found(String pattern, String text) {
    return Pattern.compile(pattern)
        .matcher(text)
        .results()
        .map(result -> result.group(1))
        .findFirst()
        .orElseThrow();
  }

  private void compile() throws IOException {
    Path own = folder.resolve(found("record (\\w+)", file) + ".java");
    Path variants = folder.resolve("Variants.java");
    Files.writeString(own, file);
    String registry = Files.readString(VARIANTS);
    String more = registry.replace("  static {\n", "  static {\n" + line);
    assertThat(more).isNotEqualTo(registry);
    Files.writeString(variants, more);
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter said = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      List<String> options =
          List.of(
              "-proc:none",
              "-Xlint:all,-processing,-serial,-classfile,-options,-restricted,-path",
              "-Werror",
              "-d",
              folder.toString(),
              "-cp",
              System.getProperty("java.class.path"));
      boolean compiled =
          compiler
              .getTask(said, files, null, options, null, files.getJavaFileObjects(own, variants))
              .call();
      assertThat(compiled).as(said.toString()).isTrue();
    }
  }

  /** What was compiled before what it takes the place of. */
  private URL[] classPath() throws IOException {
    List<URL> urls = new ArrayList<>(List.of(folder.toUri().toURL()));
    for (String path : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      urls.add(Path.of(path).toUri().toURL());
    }
    return urls.toArray(URL[]::new);
  }
}
