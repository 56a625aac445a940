package io.steelyard.app;

import io.steelyard.lab.record.RunDirectory;
import java.nio.file.Path;
import java.util.Optional;
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

  /** Makes the folder if a profile is asked for, and refuses options that it has no use for. */
  Optional<Path> folder(CommandSpec command) {
    profile.requireNoMeasurement(command);
    return asked()
        ? Optional.of(RunDirectory.newFolder(runs, ProfileView.FOLDER))
        : Optional.empty();
  }
}
