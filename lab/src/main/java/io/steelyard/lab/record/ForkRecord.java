package io.steelyard.lab.record;

import io.steelyard.lab.record.Entry.Role;
import java.util.List;

/**
 * All that one process of a cell left in the journal.
 *
 * @param start what its start took
 * @param calls its timed calls in order
 * @param end how it ended
 */
public record ForkRecord(Entry.ForkStart start, List<Entry.Call> calls, Entry.ForkEnd end) {
  public ForkRecord {
    calls = List.copyOf(calls);
  }

  /** The calls of one role. */
  public List<Entry.Call> calls(Role role) {
    return calls.stream().filter(call -> call.role() == role).toList();
  }

  /** Whether nothing went wrong and every timed output was the one of the parity run. */
  public boolean sound() {
    return end.failure().isEmpty() && calls.stream().allMatch(Entry.Call::verified);
  }
}
