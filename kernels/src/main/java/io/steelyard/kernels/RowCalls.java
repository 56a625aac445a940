package io.steelyard.kernels;

import static io.steelyard.kernels.ThreadTeam.share;

import io.steelyard.kernels.machine.Function;

/**
 * Calls a function once for every row of its operands, over all threads where there are many. One
 * object serves all calls of an instance of {@link MachineKernels}, so that none allocates.
 */
final class RowCalls implements ThreadTeam.Task {
  private final ThreadTeam team;
  private final TeamCalls calls;
  private Function function;
  private final long[] arguments = new long[6];
  private final long[] strides = new long[3];
  private int count;
  private int repetitions;
  private long step;
  private int rows;

  RowCalls(ThreadTeam team, TeamCalls calls) {
    this.team = team;
    this.calls = calls;
  }

  /** Begins with a function. Its arguments follow in order, those that move with the row first. */
  RowCalls of(Function called) {
    function = called;
    count = 0;
    repetitions = 1;
    arguments[3] = 0;
    arguments[4] = 0;
    arguments[5] = 0;
    return this;
  }

  /** An argument that is the address of the row. */
  RowCalls row(Rows operand) {
    strides[count] = 4L * operand.stride();
    arguments[count++] = operand.address(0);
    return this;
  }

  /** An argument that is the same for all rows. */
  RowCalls constant(long value) {
    if (count < strides.length) {
      strides[count] = 0;
    }
    arguments[count++] = value;
    return this;
  }

  /**
   * Makes as many calls for each row, one for each of the vectors that lie in it side by side.
   *
   * @param bytes from one vector to the next
   */
  RowCalls repeat(int vectors, long bytes) {
    repetitions = vectors;
    step = bytes;
    return this;
  }

  /** Makes the calls; a few are not worth waking anybody. */
  void run(int rows) {
    run(rows, rows > MachineMatmul.FEW);
  }

  /**
   * Makes the calls.
   *
   * @param together whether all members do, each its share
   */
  void run(int rows, boolean together) {
    while (count < strides.length) {
      constant(0);
    }
    this.rows = rows;
    if (together) {
      team.run(this);
    } else {
      run(0, 1);
    }
  }

  @Override
  public void run(int member, int members) {
    CallList list = calls.of(member);
    int end = share(rows, member + 1, members);
    for (int row = share(rows, member, members); row < end; row++) {
      for (int i = 0; i < repetitions; i++) {
        list.add(
            function,
            at(0, row, i),
            at(1, row, i),
            at(2, row, i),
            arguments[3],
            arguments[4],
            arguments[5]);
      }
    }
    list.run();
  }

  private long at(int argument, int row, int repetition) {
    long stride = strides[argument];
    return arguments[argument] + row * stride + (stride == 0 ? 0 : repetition * step);
  }
}
