package io.steelyard.models.catalogue;

import io.steelyard.models.ProgressListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Remembers what a resolver said. */
class Notes implements ResolveListener {
  final List<String> notes = new CopyOnWriteArrayList<>();
  final List<String> activities = new CopyOnWriteArrayList<>();
  volatile long lastDone;

  @Override
  public void note(String line) {
    notes.add(line);
  }

  @Override
  public ProgressListener begin(String activity) {
    activities.add(activity);
    return (done, total) -> lastDone = done;
  }
}
