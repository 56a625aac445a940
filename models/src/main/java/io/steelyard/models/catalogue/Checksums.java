package io.steelyard.models.catalogue;

import io.steelyard.models.FileFailure;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.Sha256;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;

/**
 * SHA-256 of model files. A file's checksum is remembered together with its size, time of change
 * and identity on disk, and computed again when any of them differs; a start needn't read hundreds
 * of megabytes to know that they are still the same.
 */
final class Checksums {
  private final Path directory;

  Checksums(Path directory) {
    this.directory = directory;
  }

  /**
   * The checksum of a model: of its file, or of all files with its tensors one after the other, by
   * name.
   *
   * @throws ModelException if one can't be read
   */
  String of(Path file, ResolveListener listener) {
    List<Path> files = ModelFile.files(file);
    try {
      String state = state(files);
      Path record = record(file);
      if (Files.isReadable(record)) {
        String[] lines = Files.readString(record).split("\n", -1);
        if (lines.length >= 2 && lines[0].equals(state) && lines[1].length() == 64) {
          return lines[1];
        }
      }
      String sum = Sha256.of(files, listener.begin("checking " + file.getFileName()));
      // A file that changes meanwhile mustn't be remembered under its new state.
      if (state.equals(state(files))) {
        write(record, state, sum, file);
      }
      return sum;
    } catch (IOException e) {
      throw new ModelException(file + " can't be read: " + FileFailure.reason(e), e);
    }
  }

  /** Remembers a checksum that was computed while the file, or the folder's files, were written. */
  void remember(Path file, String sum) {
    try {
      write(record(file), state(ModelFile.files(file)), sum, file);
    } catch (IOException e) {
      throw new ModelException(file + " can't be read: " + FileFailure.reason(e), e);
    }
  }

  /** One line. */
  private static String state(List<Path> files) throws IOException {
    List<String> states = new ArrayList<>();
    for (Path file : files) {
      BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
      states.add(
          "%d %s %s"
              .formatted(attributes.size(), attributes.lastModifiedTime(), attributes.fileKey()));
    }
    return String.join(", ", states);
  }

  private Path record(Path file) {
    MessageDigest digest = Sha256.digest();
    digest.update(file.toAbsolutePath().normalize().toString().getBytes(StandardCharsets.UTF_8));
    return directory.resolve(Sha256.hex(digest).substring(0, 32));
  }

  private void write(Path record, String state, String sum, Path file) {
    try {
      Files.createDirectories(directory);
      Path partial = Files.createTempFile(directory, "record", ".part");
      try {
        Files.writeString(partial, state + "\n" + sum + "\n" + file + "\n");
        Files.move(
            partial, record, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      } finally {
        Files.deleteIfExists(partial);
      }
    } catch (IOException e) {
      // In a cache that can't be written, the checksum is computed at each start instead.
    }
  }
}
