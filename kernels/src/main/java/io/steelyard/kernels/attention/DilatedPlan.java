package io.steelyard.kernels.attention;

import io.steelyard.kernels.attention.Branches.Branch;
import java.util.ArrayList;
import java.util.List;

/** What all ways to compute dilated attention share: its definition, and which head does what. */
abstract class DilatedPlan implements Plan {
  private final AttentionInputs inputs;
  private final List<Branch> branches;
  private final int[] dealt;

  /** Heads that attend to the same keys at the same positions. */
  record HeadRun(int kvHead, int firstHead, int endHead, Branch branch, int offset) {}

  DilatedPlan(AttentionInputs inputs, Branches branches) {
    this.inputs = inputs;
    this.branches = branches.of(inputs.shape().length());
    dealt = branches.deal(inputs.shape().heads(), inputs.shape().length());
  }

  AttentionInputs inputs() {
    return inputs;
  }

  private Branch branch(int head) {
    return branches.get(dealt[head]);
  }

  private int offset(int head) {
    return dealt[head] % branch(head).rate();
  }

  List<HeadRun> headRuns() {
    return headRuns(inputs.shape(), branches, dealt);
  }

  /** The same of a shape whose inputs are elsewhere. */
  static List<HeadRun> headRuns(AttentionShape shape, Branches branches) {
    return headRuns(
        shape, branches.of(shape.length()), branches.deal(shape.heads(), shape.length()));
  }

  private static List<HeadRun> headRuns(AttentionShape shape, List<Branch> branches, int[] dealt) {
    List<HeadRun> runs = new ArrayList<>();
    for (int head = 0; head < shape.heads(); ) {
      int end = head + 1;
      while (end < shape.heads() && end % shape.group() != 0 && dealt[end] == dealt[head]) {
        end++;
      }
      Branch branch = branches.get(dealt[head]);
      runs.add(new HeadRun(head / shape.group(), head, end, branch, dealt[head] % branch.rate()));
      head = end;
    }
    return runs;
  }

  /** Writes what positions get that attend to nothing. */
  void clear(AttentionOutputs outputs, Workbench workbench) {
    AttentionShape shape = outputs.shape();
    workbench.parallel(
        shape.batch() * shape.heads(),
        (index, _) -> {
          int head = index % shape.heads();
          if (branch(head).rate() == 1) {
            return;
          }
          int batch = index / shape.heads();
          long cleared = 0;
          for (int position = 0; position < shape.length(); position++) {
            if (!branch(head).takes(position, offset(head))) {
              outputs.clear(batch, head, position);
              cleared++;
            }
          }
          workbench.moved(cleared * outputs.rowBytes());
        });
  }

  @Override
  public int times(int batch, int head, int query, int key) {
    boolean ahead = inputs.shape().causal() && key > query;
    return !ahead && branch(head).pairs(query, key, offset(head)) ? 1 : 0;
  }
}
