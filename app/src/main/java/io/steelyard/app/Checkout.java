package io.steelyard.app;

import io.steelyard.lab.RunException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A commit in a worktree of its own, built.
 *
 * @param commit its full name
 * @param path where it lies
 */
record Checkout(String commit, Path path) {
  /** Lines of a failed build's output that are shown. */
  private static final int SHOWN = 15;

  private static final int SHORT = 10;

  /** The first digits of the commit's name. */
  String shortName() {
    return commit.substring(0, Math.min(SHORT, commit.length()));
  }

  /**
   * Checks a commit out, or takes the worktree that an earlier call left.
   *
   * @param repository a folder in the repository
   * @param reference a branch, a tag or a commit
   * @param parent where worktrees lie
   * @throws UsageException if there is no such commit
   */
  static Checkout of(Path repository, String reference, Path parent)
      throws IOException, InterruptedException {
    Output resolved =
        git(
            repository,
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            reference + "^{commit}");
    if (resolved.code() != 0) {
      throw new UsageException(
          "there is no commit '%s' in %s: name a branch, a tag or a commit"
              .formatted(reference, repository.toAbsolutePath()));
    }
    String commit = resolved.text().strip();
    Path path = parent.resolve(commit);
    if (!isWhole(repository, path, commit)) {
      Files.createDirectories(parent);
      git(repository, "worktree", "remove", "--force", path.toString());
      // A worktree whose folder was deleted is still on the list.
      git(repository, "worktree", "prune");
      Output added =
          git(repository, "worktree", "add", "--force", "--detach", path.toString(), commit);
      if (added.code() != 0) {
        throw new RunException(
            "can't check out %s into %s: %s".formatted(reference, path, added.text().strip()));
      }
    }
    return new Checkout(commit, path);
  }

  /**
   * Whether a folder is a worktree of this commit with all of its files as committed: an earlier
   * call may have been killed while it wrote them.
   */
  private static boolean isWhole(Path repository, Path path, String commit)
      throws IOException, InterruptedException {
    if (Files.notExists(path.resolve(".git"))) {
      return false;
    }
    String folder = path.toString();
    Output at = git(repository, "-C", folder, "rev-parse", "HEAD");
    Output changed = git(repository, "-C", folder, "status", "--porcelain", "-uno");
    return at.text().strip().equals(commit) && changed.code() == 0 && changed.text().isBlank();
  }

  /**
   * Builds it.
   *
   * @param command for the shell, in the checkout's folder
   * @throws RunException with the end of the output if it fails
   */
  void build(String command) throws IOException, InterruptedException {
    Output built = run(path, List.of("/bin/sh", "-c", command), true);
    if (built.code() != 0) {
      List<String> lines = built.text().lines().toList();
      throw new RunException(
          "the build of %s failed with exit code %d ('%s' in %s):%n%s"
              .formatted(
                  shortName(),
                  built.code(),
                  command,
                  path,
                  String.join(
                      "\n", lines.subList(Math.max(0, lines.size() - SHOWN), lines.size()))));
    }
  }

  /**
   * What a command prints on stdout.
   *
   * @throws RunException if it fails
   */
  String output(List<String> command) throws IOException, InterruptedException {
    Output output = run(path, command, false);
    if (output.code() != 0) {
      throw new RunException(
          "'%s' failed in %s with exit code %d"
              .formatted(String.join(" ", command), path, output.code()));
    }
    return output.text();
  }

  private record Output(int code, String text) {}

  private static Output git(Path repository, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("git"));
    command.addAll(List.of(arguments));
    try {
      return run(repository, command, true);
    } catch (IOException e) {
      throw new RunException("git can't be run: install it and put it on the PATH", e);
    }
  }

  /**
   * Runs a command.
   *
   * @param both whether stderr is part of the text, too
   */
  private static Output run(Path folder, List<String> command, boolean both)
      throws IOException, InterruptedException {
    Path text = Files.createTempFile("steelyard-", ".log");
    try {
      Process process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(both)
              .redirectOutput(text.toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .redirectInput(Path.of("/dev/null").toFile())
              .start();
      try {
        int code = process.waitFor();
        return new Output(code, new String(Files.readAllBytes(text), StandardCharsets.UTF_8));
      } finally {
        process.descendants().forEach(ProcessHandle::destroy);
        process.destroy();
      }
    } finally {
      Files.delete(text);
    }
  }
}
