package io.steelyard.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A writer that finds no more room: what it had added stays, and it goes on once there is room. */
class FullDiskTest {
  @TempDir private Path folder;

  /** Of a process that may write no longer files, every write beyond that fails. */
  @Test
  void filesThatMayNotGrowLoseNothing() throws Exception {
    WriterProcess writers = new WriterProcess(folder.resolve("home").toString(), folder);

    // In units of 1,024 bytes.
    Process limited =
        writers.start("limited", "bash", "-c", "ulimit -f 4000 && exec \"$0\" \"$@\"");

    assertThat(limited.waitFor()).isEqualTo(1);
    assertThat(writers.output()).contains("can't write", HistoryStore.FILE);
    assertThat(writers.added()).isNotEmpty();
    writers.verify("after the limit");
    addsAnother(folder.resolve("home"));
  }

  @Test
  @Tag("soak")
  void aFullFileSystemLosesNothing() throws Exception {
    Path disk = Files.createDirectory(folder.resolve("disk"));
    assumeTrue(
        succeeds("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk.toString()),
        "not applicable here: mounting a small file system takes root's rights");
    try {
      Path ballast = Files.write(disk.resolve("ballast"), new byte[1 << 20]);
      WriterProcess writers = new WriterProcess(disk.resolve("home").toString(), folder);

      assertThat(writers.start("full").waitFor()).isEqualTo(1);

      assertThat(writers.output()).contains("can't write", "full");
      assertThat(writers.added()).isNotEmpty();
      Files.delete(ballast);
      writers.verify("after the disk was full");
      addsAnother(disk.resolve("home"));
      System.out.printf(
          Locale.ROOT, "full disk: %d runs said to be added, all there%n", writers.added().size());
    } finally {
      assertThat(succeeds("umount", disk.toString())).isTrue();
    }
  }

  private static void addsAnother(Path home) {
    try (HistoryStore store = HistoryStore.open(home)) {
      assertThat(store.add(SampleRuns.run("another", SampleRuns.NOON, 100)))
          .isEqualTo(HistoryStore.Outcome.ADDED);
    }
  }

  private static boolean succeeds(String... command) throws Exception {
    return new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start()
            .waitFor()
        == 0;
  }
}
