package io.steelyard.reports;

/** A figure of a run's own kind. */
public sealed interface Chart permits LineChart, BarChart, ReachChart, HeatMap {
  /** The name of its files. */
  String name();

  /** What is drawn. */
  String title();
}
