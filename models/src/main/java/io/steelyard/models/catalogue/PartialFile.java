package io.steelyard.models.catalogue;

import io.steelyard.models.FileFailure;
import io.steelyard.models.ModelException;
import io.steelyard.models.ProgressListener;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;

/**
 * A file on its way into the cache. It grows beside its final name and takes that name when it has
 * the size and the checksum that the catalogue, or the hub, says it has.
 */
final class PartialFile implements AutoCloseable {
  private static final int BUFFER = 1 << 20;

  private final Path partial;
  private final Path target;
  private final FileSum wanted;
  private final FileChannel channel;
  private MessageDigest digest;
  private long size;

  /**
   * Opens what an earlier attempt has left, or begins anew.
   *
   * @throws ModelException if the cache can't be written or has too little space
   */
  PartialFile(Path target, FileSum wanted) {
    this.target = target;
    this.partial = target.resolveSibling(target.getFileName() + ".part");
    this.wanted = wanted;
    this.digest = wanted.digest();
    try {
      this.channel =
          FileChannel.open(
              partial,
              StandardOpenOption.CREATE,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE);
      readWhatIsThere();
      long usable = Files.getFileStore(target.getParent()).getUsableSpace();
      if (usable < wanted.bytes() - size) {
        close();
        throw new IOException("only %,d bytes are free there".formatted(usable));
      }
    } catch (IOException e) {
      throw unwritable(e);
    }
  }

  private void readWhatIsThere() throws IOException {
    if (channel.size() > wanted.bytes()) {
      restart();
      return;
    }
    ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
    while (channel.read(buffer) >= 0) {
      buffer.flip();
      size += buffer.remaining();
      digest.update(buffer);
      buffer.clear();
    }
  }

  long size() {
    return size;
  }

  long wantedBytes() {
    return wanted.bytes();
  }

  boolean complete() {
    return size == wanted.bytes();
  }

  /**
   * Throws away what is there.
   *
   * @throws ModelException if the cache can't be written
   */
  void restart() {
    try {
      channel.truncate(0);
      channel.position(0);
    } catch (IOException e) {
      throw unwritable(e);
    }
    digest = wanted.digest();
    size = 0;
  }

  /**
   * Appends a stream to its end.
   *
   * @return whether it ended with the file at its full size
   * @throws IOException if the stream fails
   * @throws SourceFailure if it is longer than the file should be
   * @throws ModelException if the cache can't be written
   */
  boolean append(InputStream in, ProgressListener listener) throws IOException, SourceFailure {
    byte[] buffer = new byte[BUFFER];
    for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
      if (n > wanted.bytes() - size) {
        restart();
        throw new SourceFailure(
            "it has another file, longer than the %,d bytes that are expected"
                .formatted(wanted.bytes()));
      }
      write(ByteBuffer.wrap(buffer, 0, n));
      digest.update(buffer, 0, n);
      size += n;
      listener.progress(size, wanted.bytes());
    }
    return complete();
  }

  private void write(ByteBuffer bytes) {
    try {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    } catch (IOException e) {
      throw unwritable(e);
    }
  }

  /** Whether the file is complete and the one that was asked for; if not, it is thrown away. */
  Verification verify() {
    String sum = FileSum.hex(digest);
    if (sum.equals(wanted.hex())) {
      return new Verification(true, sum);
    }
    restart();
    return new Verification(false, sum);
  }

  /** What the checksum is called. */
  String sumLabel() {
    return wanted.kind().label;
  }

  /** Result of {@link #verify}. */
  record Verification(boolean passed, String sum) {}

  /**
   * Gives the file its name.
   *
   * @throws ModelException if the cache can't be written
   */
  void publish() {
    try {
      channel.force(true);
      channel.close();
      Files.move(
          partial, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw unwritable(e);
    }
  }

  /** Closes the file; what it holds stays for another attempt, an empty one goes. */
  @Override
  public void close() {
    try {
      channel.close();
      if (size == 0) {
        Files.deleteIfExists(partial);
      }
    } catch (IOException e) {
      throw unwritable(e);
    }
  }

  private ModelException unwritable(IOException e) {
    return new ModelException(
        "%s (%,d bytes) can't be written: %s; free some space or set STEELYARD_CACHE to another directory, and run again: what is there is kept"
            .formatted(target, wanted.bytes(), FileFailure.reason(e)),
        e);
  }
}
