package io.steelyard.app;

import io.steelyard.lab.RunException;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * A source file of the user's, compiled.
 *
 * @param className its public class: the file's name, in the package that it names
 * @param folder with the classes; the same source in the same place has the same, so that a run can
 *     be resumed
 */
record JavaSource(String className, Path folder) {
  static final String SUFFIX = ".java";

  private static final Pattern PACKAGE =
      Pattern.compile("^\\s*package\\s+([\\p{L}\\p{N}_.]+)\\s*;", Pattern.MULTILINE);

  private static final int DIGITS = 16;

  /**
   * Compiles a file.
   *
   * @param classPath what it needs beside Steelyard
   * @param cache where compiled classes are kept
   * @throws UsageException with the compiler's own words if it can't be compiled
   */
  static JavaSource compile(String file, String classPath, Path cache) throws IOException {
    Path source = Path.of(file);
    if (!Files.isRegularFile(source)) {
      throw new UsageException("there is no file " + file);
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      throw new RunException(
          "this Java has no compiler: run Steelyard with a JDK, or compile %s yourself and name its class"
              .formatted(file));
    }
    String text = Files.readString(source);
    Path folder = cache.resolve("benchmarks").resolve(checksum(text + "\n" + classPath));
    Files.createDirectories(folder);
    StringWriter said = new StringWriter();
    String path = System.getProperty("java.class.path");
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      boolean compiled =
          compiler
              .getTask(
                  said,
                  files,
                  null,
                  List.of(
                      "-proc:none",
                      "-d",
                      folder.toString(),
                      "-cp",
                      classPath.isEmpty() ? path : path + File.pathSeparator + classPath),
                  null,
                  files.getJavaFileObjects(source))
              .call();
      if (!compiled) {
        throw new UsageException("%s can't be compiled:%n%s".formatted(file, said));
      }
    }
    Matcher named = PACKAGE.matcher(text);
    String name = source.getFileName().toString();
    name = name.substring(0, name.length() - SUFFIX.length());
    return new JavaSource(named.find() ? named.group(1) + "." + name : name, folder);
  }

  private static String checksum(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest).substring(0, DIGITS);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
