package io.steelyard.lab.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.lab.RunException;
import io.steelyard.lab.TestData;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JournalTest {
  private static final List<Entry> ENTRIES =
      List.of(
          TestData.blockStart(1, 1),
          TestData.forkStart(1, 1, "größe/pp512", 1, true),
          TestData.call(1, 1, "größe/pp512", 1, Entry.Role.WARM_UP, 0, 512, 123_456_789, true),
          TestData.call(1, 1, "größe/pp512", 1, Entry.Role.TRIAL, 0, 512, 123_456_789, false),
          TestData.forkEnd(1, 1, "größe/pp512", 1, "it said \"no\"\nand died"),
          TestData.blockEnd(1, 1, "the machine was busy"));

  @TempDir Path folder;
  private Path file;

  @BeforeEach
  void name() {
    file = folder.resolve("trials.jsonl");
  }

  private void write(List<Entry> entries) {
    try (Journal journal = Journal.open(file)) {
      entries.forEach(journal::add);
    }
  }

  @Test
  void everyKindOfEntryComesBackAsItWas() {
    write(ENTRIES);

    assertThat(Journal.read(file)).isEqualTo(ENTRIES);
  }

  @Test
  void anEntryIsInTheFileBeforeTheJournalIsClosed() {
    try (Journal journal = Journal.open(file)) {
      for (int i = 0; i < ENTRIES.size(); i++) {
        journal.add(ENTRIES.get(i));

        assertThat(Journal.read(file)).isEqualTo(ENTRIES.subList(0, i + 1));
        assertThat(journal.entries()).isEqualTo(ENTRIES.subList(0, i + 1));
      }
    }
  }

  @Test
  void anEntryIsOneLine() throws IOException {
    write(ENTRIES);

    assertThat(Files.readAllLines(file))
        .hasSameSizeAs(ENTRIES)
        .allMatch(line -> line.startsWith("{\"kind\":\""));
  }

  @Test
  void reopeningGoesOnAfterTheLastEntry() {
    write(ENTRIES.subList(0, 2));
    write(ENTRIES.subList(2, 6));

    assertThat(Journal.read(file)).isEqualTo(ENTRIES);
  }

  @Test
  void cutAtAnyByteItKeepsEveryWholeEntryAndTheNextOneIsAWholeLine() throws IOException {
    List<Entry> few =
        List.of(
            TestData.blockStart(1, 1),
            TestData.blockEnd(1, 1, "größer"),
            TestData.blockStart(1, 2));
    write(few);
    byte[] whole = Files.readAllBytes(file);
    for (int length = 0; length <= whole.length; length++) {
      byte[] cut = Arrays.copyOf(whole, length);
      Files.write(file, cut);
      int lines =
          (int) new String(cut, StandardCharsets.ISO_8859_1).chars().filter(c -> c == '\n').count();
      Entry next = TestData.blockStart(9, 2);

      assertThat(Journal.read(file)).isEqualTo(few.subList(0, lines));
      try (Journal journal = Journal.open(file)) {
        assertThat(journal.entries()).isEqualTo(few.subList(0, lines));
        journal.add(next);
      }

      List<Entry> all = Journal.read(file);
      assertThat(all).as("cut to %s bytes", length).hasSize(lines + 1).endsWith(next);
      assertThat(all.subList(0, lines)).isEqualTo(few.subList(0, lines));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "rubbish",
        "{\"kind\":\"block-end\"",
        "{\"kind\":\"block-end\"}",
        "{\"kind\":\"no-such-kind\",\"block\":1,\"attempt\":1}",
        "{\"block\":1,\"attempt\":1}",
        "[1,2,3]",
        "{\"kind\":\"block-end\",\"block\":\"x\",\"attempt\":1,\"at\":\"\",\"stolen_share\":0,"
            + "\"disturbed\":\"\"}"
      })
  void aWholeLineThatIsNoEntryIsNamed(String line) throws IOException {
    write(ENTRIES.subList(0, 2));
    Files.writeString(file, line + "\n", StandardOpenOption.APPEND);
    byte[] before = Files.readAllBytes(file);

    assertThatExceptionOfType(RunException.class)
        .isThrownBy(() -> Journal.open(file))
        .withMessageContaining(file + " line 3 ");
    assertThat(Files.readAllBytes(file)).as("nothing is cut away").isEqualTo(before);
  }

  @Test
  void fieldsOfLaterVersionsAreIgnored() throws IOException {
    Files.writeString(
        file,
        "{\"kind\":\"block-end\",\"block\":1,\"attempt\":2,\"at\":\"t\",\"stolen_share\":0.5,"
            + "\"disturbed\":\"\",\"spent_share\":0.25,\"later\":[1]}\n");

    assertThat(Journal.read(file)).containsExactly(new Entry.BlockEnd(1, 2, "t", 0.5, "", 0.25));
  }

  @Test
  void aFullDiskIsSaidInOneSentence() throws IOException {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.isWritable(full), "not applicable here: there is no /dev/full");
    try (FileChannel channel = FileChannel.open(full, StandardOpenOption.WRITE);
        Journal journal = new Journal(file, channel, new ArrayList<>())) {
      assertThatExceptionOfType(RunException.class)
          .isThrownBy(() -> journal.add(ENTRIES.getFirst()))
          .withMessage(
              "can't write %s (No space left on device): make room there; nothing recorded is"
                  + " lost, and './steelyard resume' goes on",
              file);
      assertThat(journal.entries()).isEmpty();
    }
  }

  @Test
  void aFolderThatIsNotThereIsNamed() {
    Path missing = folder.resolve("none").resolve("trials.jsonl");

    assertThatExceptionOfType(RunException.class)
        .isThrownBy(() -> Journal.open(missing))
        .withMessageContaining("can't write " + missing);
    assertThatExceptionOfType(RunException.class)
        .isThrownBy(() -> Journal.read(missing))
        .withMessageContaining("can't read " + missing);
  }
}
