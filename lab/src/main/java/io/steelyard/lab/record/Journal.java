package io.steelyard.lab.record;

import io.steelyard.lab.RunException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;

/**
 * {@code trials.jsonl}: the raw samples, one JSON object a line, on disk before the next trial
 * starts. A line that was cut off by a crash is dropped when the journal is opened again.
 */
public final class Journal implements AutoCloseable {
  private final Path file;
  private final FileChannel channel;
  private final List<Entry> entries;

  /** A journal at the position of a channel. */
  Journal(Path file, FileChannel channel, List<Entry> entries) {
    this.file = file;
    this.channel = channel;
    this.entries = entries;
  }

  /**
   * Opens a journal to add to it, creating it where there is none.
   *
   * @throws RunException if the file can't be written, or holds a whole line that is no entry
   */
  public static Journal open(Path file) {
    try {
      if (Files.exists(file)) {
        Contents contents = contents(file);
        FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
        channel.truncate(contents.wholeBytes);
        channel.position(contents.wholeBytes);
        return new Journal(file, channel, contents.entries);
      }
      return new Journal(
          file,
          FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW),
          new ArrayList<>());
    } catch (IOException e) {
      throw RunException.unwritable(file, e);
    }
  }

  /** The entries of a journal, without opening it for writing. */
  public static List<Entry> read(Path file) {
    try {
      return contents(file).entries;
    } catch (IOException e) {
      throw new RunException("can't read " + file + ": " + e.getMessage(), e);
    }
  }

  /** All entries so far, oldest first. */
  public List<Entry> entries() {
    return List.copyOf(entries);
  }

  /**
   * Adds an entry and waits until it is on disk.
   *
   * @throws RunException if it can't be written, such as on a full disk; what was written before
   *     stays, and the run can be resumed
   */
  public void add(Entry entry) {
    ByteBuffer line = StandardCharsets.UTF_8.encode(Json.line(entry) + "\n");
    try {
      long end = channel.position();
      try {
        while (line.hasRemaining()) {
          channel.write(line);
        }
        channel.force(false);
      } catch (IOException e) {
        takeBack(end);
        throw e;
      }
    } catch (IOException e) {
      throw RunException.unwritable(file, e);
    }
    entries.add(entry);
  }

  /** Leaves no half a line that a later one would be joined to. */
  private void takeBack(long end) {
    try {
      channel.truncate(end);
    } catch (IOException _) {
      // Then the half line is dropped when the journal is opened again.
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw RunException.unwritable(file, e);
    }
  }

  private record Contents(List<Entry> entries, long wholeBytes) {}

  private static Contents contents(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    List<Entry> entries = new ArrayList<>();
    int start = 0;
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] != '\n') {
        continue;
      }
      String line = new String(bytes, start, i - start, StandardCharsets.UTF_8);
      try {
        entries.add(Json.read(line, Entry.class));
      } catch (JacksonException e) {
        throw new RunException(
            file
                + " line "
                + (entries.size() + 1)
                + " is not an entry of this version: "
                + e.getOriginalMessage(),
            e);
      }
      start = i + 1;
    }
    return new Contents(entries, start);
  }
}
