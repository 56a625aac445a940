package io.steelyard.lab.study;

/**
 * One thing that is measured: a label's engine doing a workload.
 *
 * @param label the engine's label
 * @param workload what it does
 */
public record Cell(String label, Workload workload) {
  /** Names the cell in records: {@code llamacpp/pp512}. */
  public String id() {
    return label + "/" + workload.name();
  }

  /** The label in an {@link #id}; a label may hold slashes, a workload's name does not. */
  public static String label(String id) {
    return id.substring(0, id.lastIndexOf('/'));
  }
}
