package io.steelyard.kernels;

import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.MachineCode.Single;

/** A list of calls for each member of a team. */
final class TeamCalls implements AutoCloseable {
  private final CallList[] lists;

  TeamCalls(ThreadTeam team, MachineCode code) {
    Function calls = code.single(Single.CALLS);
    lists = new CallList[team.threads()];
    for (int i = 0; i < lists.length; i++) {
      lists[i] = new CallList(calls);
    }
  }

  /** A member's, without what a task that failed may have left in it. */
  CallList of(int member) {
    lists[member].clear();
    return lists[member];
  }

  @Override
  public void close() {
    for (CallList list : lists) {
      list.close();
    }
  }
}
