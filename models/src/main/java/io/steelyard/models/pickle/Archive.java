package io.steelyard.models.pickle;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The entries of a ZIP archive where they lie. PyTorch stores entries as they are, so one is a
 * piece of the file; a compressed one is refused. Nothing in the archive is believed.
 */
final class Archive {
  private static final int END = 0x06054b50;
  private static final int END_BYTES = 22;
  private static final int END_64 = 0x06064b50;
  private static final int LOCATOR_64 = 0x07064b50;
  private static final int LOCATOR_64_BYTES = 20;
  private static final int ENTRY = 0x02014b50;
  private static final int ENTRY_BYTES = 46;
  private static final int LOCAL = 0x04034b50;
  private static final int LOCAL_BYTES = 30;
  private static final int LONGEST_COMMENT = 0xFFFF;
  private static final int EXTRA_64 = 1;
  private static final long ABSENT_32 = 0xFFFF_FFFFL;
  private static final int MOST_ENTRIES = 1 << 18;

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private record Place(String name, long begin, long end) {}

  private record Directory(long offset, long count) {}

  private final String source;
  private final MemorySegment file;
  private final Map<String, Place> places = new HashMap<>();

  private Archive(String source, MemorySegment file) {
    this.source = source;
    this.file = file;
  }

  /**
   * The entries of an archive by name.
   *
   * @throws ModelException if it is damaged, or an entry is compressed or encrypted
   */
  static Map<String, MemorySegment> read(String source, MemorySegment file) {
    Archive archive = new Archive(source, file);
    archive.readEntries(archive.directory());
    archive.refuseOverlaps();
    Map<String, MemorySegment> entries = HashMap.newHashMap(archive.places.size());
    archive.places.forEach(
        (name, place) ->
            entries.put(name, file.asSlice(place.begin(), place.end() - place.begin())));
    return entries;
  }

  private Directory directory() {
    long last = file.byteSize() - END_BYTES;
    for (long at = last; at >= Math.max(0, last - LONGEST_COMMENT); at--) {
      if (file.get(INT, at) == END) {
        Directory small = new Directory(unsigned(at + 16), file.get(SHORT, at + 10) & 0xFFFF);
        long locator = at - LOCATOR_64_BYTES;
        return locator >= 0 && file.get(INT, locator) == LOCATOR_64
            ? large(file.get(LONG, locator + 8))
            : small;
      }
    }
    throw corrupt("its end, where a ZIP archive lists what it holds, is missing");
  }

  private Directory large(long at) {
    need(at, 56, "its 64-bit directory");
    if (file.get(INT, at) != END_64) {
      throw corrupt("its 64-bit directory isn't where it says");
    }
    return new Directory(file.get(LONG, at + 48), file.get(LONG, at + 32));
  }

  private void readEntries(Directory directory) {
    if (directory.count() < 0 || directory.count() > MOST_ENTRIES) {
      throw corrupt(
          "it claims %s entries; at most %d make sense"
              .formatted(Long.toUnsignedString(directory.count()), MOST_ENTRIES));
    }
    long at = directory.offset();
    for (long i = 0; i < directory.count(); i++) {
      need(at, ENTRY_BYTES, "entry %d of its directory".formatted(i));
      if (file.get(INT, at) != ENTRY) {
        throw corrupt("entry %d of its directory isn't where it says".formatted(i));
      }
      int nameBytes = file.get(SHORT, at + 28) & 0xFFFF;
      int extraBytes = file.get(SHORT, at + 30) & 0xFFFF;
      int commentBytes = file.get(SHORT, at + 32) & 0xFFFF;
      long bytes = (long) ENTRY_BYTES + nameBytes + extraBytes + commentBytes;
      need(at, bytes, "entry %d of its directory".formatted(i));
      Place place = place(at, text(at + ENTRY_BYTES, nameBytes), nameBytes, extraBytes);
      if (places.put(place.name(), place) != null) {
        throw corrupt("it holds '%s' twice".formatted(printable(place.name())));
      }
      at += bytes;
    }
  }

  private Place place(long at, String name, int nameBytes, int extraBytes) {
    int flags = file.get(SHORT, at + 8);
    int method = file.get(SHORT, at + 10) & 0xFFFF;
    if (method != 0 || (flags & 1) != 0) {
      throw new ModelException(
          "%s: its entry '%s' is %s, which no file of PyTorch's is; save the model again as safetensors"
              .formatted(source, printable(name), method != 0 ? "compressed" : "encrypted"));
    }
    long stored = unsigned(at + 20);
    long size = unsigned(at + 24);
    long local = unsigned(at + 42);
    long extra = at + ENTRY_BYTES + nameBytes;
    long extraEnd = extra + extraBytes;
    while (extra + 4 <= extraEnd) {
      int id = file.get(SHORT, extra) & 0xFFFF;
      long next = extra + 4 + (file.get(SHORT, extra + 2) & 0xFFFF);
      if (id == EXTRA_64) {
        // Of these there are only those that don't fit their 32 bits, in this order.
        long from = extra + 4;
        for (int field = 0; field < 3; field++) {
          long value = field == 0 ? size : field == 1 ? stored : local;
          if (value == ABSENT_32) {
            if (from + Long.BYTES > Math.min(next, extraEnd)) {
              throw corrupt("the size of entry '%s' is missing".formatted(printable(name)));
            }
            value = file.get(LONG, from);
            from += Long.BYTES;
          }
          switch (field) {
            case 0 -> size = value;
            case 1 -> stored = value;
            default -> local = value;
          }
        }
      }
      extra = next;
    }
    if (stored != size) {
      throw corrupt(
          "entry '%s' has %s bytes in the file and %s outside of it, though it isn't compressed"
              .formatted(
                  printable(name), Long.toUnsignedString(stored), Long.toUnsignedString(size)));
    }
    return local(name, local, size);
  }

  private Place local(String name, long at, long size) {
    String what = "entry '%s'".formatted(printable(name));
    need(at, LOCAL_BYTES, what);
    if (file.get(INT, at) != LOCAL) {
      throw corrupt(what + " isn't where its directory says");
    }
    long begin =
        at
            + LOCAL_BYTES
            + (file.get(SHORT, at + 26) & 0xFFFF)
            + (file.get(SHORT, at + 28) & 0xFFFF);
    need(begin, size, what);
    return new Place(name, begin, begin + size);
  }

  /** Entries that share bytes would let a small file describe a model of any size. */
  private void refuseOverlaps() {
    List<Place> sorted =
        places.values().stream()
            .sorted(Comparator.comparingLong(Place::begin).thenComparingLong(Place::end))
            .toList();
    for (int i = 1; i < sorted.size(); i++) {
      if (sorted.get(i).begin() < sorted.get(i - 1).end()) {
        throw corrupt(
            "entries '%s' and '%s' overlap"
                .formatted(printable(sorted.get(i - 1).name()), printable(sorted.get(i).name())));
      }
    }
  }

  private String text(long at, int bytes) {
    return new String(
        file.asSlice(at, bytes).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
  }

  private long unsigned(long at) {
    return Integer.toUnsignedLong(file.get(INT, at));
  }

  private void need(long at, long bytes, String what) {
    if (at < 0 || bytes < 0 || at > file.byteSize() || bytes > file.byteSize() - at) {
      throw corrupt(
          "%s needs %s bytes from byte %s, past the file's end at %d"
              .formatted(
                  what, Long.toUnsignedString(bytes), Long.toUnsignedString(at), file.byteSize()));
    }
  }

  private ModelException corrupt(String what) {
    return new ModelException(
        "%s is damaged or incomplete: %s; fetch it again".formatted(source, what));
  }
}
