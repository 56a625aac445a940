package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.steelyard.lab.RunException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commits of a real repository. */
final class CheckoutTest {
  @TempDir private Path folder;
  private Path repository;
  private Path worktrees;

  @BeforeEach
  void makeRepository() throws Exception {
    repository = Files.createDirectory(folder.resolve("a repository"));
    worktrees = folder.resolve("worktrees");
    git("init", "--quiet", "--initial-branch=main");
    commit("first");
    git("tag", "v1");
    commit("second");
  }

  private void commit(String text) throws Exception {
    Files.writeString(repository.resolve("text"), text);
    git("add", "text");
    git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", text);
  }

  private void git(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("git"));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).directory(repository.toFile()).inheritIO().start();
    assertThat(process.waitFor()).isZero();
  }

  private Checkout checkout(String reference) throws IOException, InterruptedException {
    return Checkout.of(repository, reference, worktrees);
  }

  private static String text(Checkout checkout) throws IOException {
    return Files.readString(checkout.path().resolve("text"));
  }

  @Test
  void eachCommitLiesInAFolderOfItsOwn() throws Exception {
    Checkout first = checkout("v1");
    Checkout second = checkout("main");

    assertThat(text(first)).isEqualTo("first");
    assertThat(text(second)).isEqualTo("second");
    assertThat(checkout(second.shortName())).isEqualTo(second);
    assertThat(Files.readString(repository.resolve("text"))).isEqualTo("second");
  }

  @Test
  void whatWasBuiltBeforeIsThereAgain() throws Exception {
    checkout("v1").build("echo built > product");

    assertThat(checkout("v1").output(List.of("cat", "product"))).isEqualTo("built\n");
  }

  @Test
  void aWorktreeWhoseFolderWasDeletedIsMadeAgain() throws Exception {
    Checkout gone = checkout("v1");
    Files.delete(gone.path().resolve("text"));
    Files.delete(gone.path().resolve(".git"));
    Files.delete(gone.path());

    assertThat(text(checkout("v1"))).isEqualTo("first");
  }

  @Test
  void aWorktreeThatWasLeftHalfWrittenIsMadeAgain() throws Exception {
    Files.delete(checkout("v1").path().resolve("text"));

    assertThat(text(checkout("v1"))).isEqualTo("first");
  }

  @Test
  void aCommitThatIsNotThereIsWrongUsage() {
    for (String reference : List.of("no-such", "--help", "")) {
      assertThatExceptionOfType(UsageException.class)
          .isThrownBy(() -> checkout(reference))
          .withMessageContaining("there is no commit '" + reference + "'");
    }
  }

  @Test
  void aBuildThatFailsShowsTheEndOfItsOutput() {
    assertThatExceptionOfType(RunException.class)
        .isThrownBy(() -> checkout("v1").build("echo fine; echo 'no such thing' >&2; exit 7"))
        .withMessageContaining("failed with exit code 7")
        .withMessageContaining("no such thing");
  }
}
