package io.steelyard.kernels;

/** Scratch memory for a team of threads: some that all share, and some for each member alone. */
final class TeamScratch implements AutoCloseable {
  private final Scratch shared = new Scratch();
  private final Scratch[] own;

  TeamScratch(ThreadTeam team) {
    own = new Scratch[team.threads()];
    for (int i = 0; i < own.length; i++) {
      own[i] = new Scratch();
    }
  }

  Scratch shared() {
    return shared;
  }

  Scratch own(int member) {
    return own[member];
  }

  long bytes() {
    long bytes = shared.bytes();
    for (Scratch scratch : own) {
      bytes += scratch.bytes();
    }
    return bytes;
  }

  @Override
  public void close() {
    shared.close();
    for (Scratch scratch : own) {
      scratch.close();
    }
  }
}
