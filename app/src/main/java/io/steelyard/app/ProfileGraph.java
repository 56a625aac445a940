package io.steelyard.app;

import io.steelyard.kernels.ProfiledKernels;
import io.steelyard.reports.FlameGraph;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * A profile's flight recording as a flame graph: operators and their kernels by the time of every
 * call; the rest by samples of the Java stack.
 */
final class ProfileGraph {
  /** What of the timed calls is no operator. */
  static final String OUTSIDE = "outside operators";

  private static final String SAMPLE = "jdk.ExecutionSample";

  /** Classes that the JVM made at run time, as for lambdas: they have no name to read. */
  private static final Pattern GLUE = Pattern.compile("[./+]0x[0-9a-f]+$");

  /** The method whose calls were timed. */
  record Timed(Class<?> type, String method) {}

  private final Timed timed;
  private final Map<List<String>, Long> operators = new HashMap<>();
  private final List<List<String>> samples = new ArrayList<>();

  private ProfileGraph(Timed timed) {
    this.timed = timed;
  }

  /**
   * Reads a recording.
   *
   * @param name of the whole
   * @param nanos what all timed calls took
   */
  static FlameGraph of(Path recording, String name, Timed timed, long nanos) throws IOException {
    ProfileGraph profile = new ProfileGraph(timed);
    try (RecordingFile events = new RecordingFile(recording)) {
      while (events.hasMoreEvents()) {
        profile.add(events.readEvent());
      }
    }
    FlameGraph graph = new FlameGraph(name);
    profile.operators.forEach(graph::add);
    profile.addOutside(graph, Math.max(0, nanos - graph.nanos()));
    return graph;
  }

  private void add(RecordedEvent event) {
    switch (event.getEventType().getName()) {
      case ProfiledKernels.OperatorEvent.NAME ->
          operators.merge(
              List.of(event.getString("operator"), event.getString("kernel")),
              event.getDuration().toNanos(),
              Long::sum);
      case SAMPLE -> addSample(event);
      default -> {
        // The recorder's settings bring more than is drawn.
      }
    }
  }

  /** Keeps a sample that was taken in the timed call, but neither in an operator nor before it. */
  private void addSample(RecordedEvent event) {
    if (event.getStackTrace() == null) {
      return;
    }
    List<String> path = new ArrayList<>();
    for (RecordedFrame frame : event.getStackTrace().getFrames()) {
      String type = frame.getMethod().getType().getName();
      String method = frame.getMethod().getName();
      boolean operator =
          type.equals(ProfiledKernels.class.getName()) && method.startsWith("lambda$");
      if (operator || method.equals("prepare")) {
        return;
      }
      if (!GLUE.matcher(type).find()) {
        path.add(type.substring(type.lastIndexOf('.') + 1) + "." + method);
      }
      if (type.equals(timed.type().getName()) && method.equals(timed.method())) {
        Collections.reverse(path);
        samples.add(path);
        return;
      }
    }
  }

  /** Deals the time to the samples, as evenly as whole nanoseconds allow. */
  private void addOutside(FlameGraph graph, long nanos) {
    if (nanos == 0) {
      return;
    }
    if (samples.isEmpty()) {
      graph.add(List.of(OUTSIDE), nanos);
      return;
    }
    for (int i = 0; i < samples.size(); i++) {
      List<String> path = new ArrayList<>(List.of(OUTSIDE));
      path.addAll(samples.get(i));
      graph.add(path, nanos * (i + 1) / samples.size() - nanos * i / samples.size());
    }
  }
}
