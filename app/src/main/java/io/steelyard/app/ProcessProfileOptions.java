package io.steelyard.app;

import java.nio.file.Path;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** A profile of what a {@link MeasuringProcess} does, and where it is kept. */
final class ProcessProfileOptions {
  @Mixin private ProfileOption profile;

  @Option(
      names = "--runs",
      paramLabel = "DIR",
      defaultValue = "runs",
      description = "where a profile's folder is made")
  private Path runs;

  boolean asked() {
    return profile.asked();
  }

  /** Makes a profile in a folder of its own, and refuses options that it has no use for. */
  void run(CommandSpec command, ProfileView.Use use) throws Exception {
    profile.requireNoMeasurement(command);
    ProfileView.inFolder(runs, use);
  }
}
