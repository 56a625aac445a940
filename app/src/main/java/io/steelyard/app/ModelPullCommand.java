package io.steelyard.app;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "pull",
    mixinStandardHelpOptions = true,
    description = {
      "Gets a model into the cache, checked against its checksum, and prints its path.",
      "",
      "Models that are folders come from the model hub, each file checked against the checksum"
          + " that the hub lists; an interrupted download goes on where it stopped. Where a licence"
          + " has to be accepted first, HF_TOKEN is the token of the account that has."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard model pull default",
      "  ./steelyard model pull default --force",
      "  ./steelyard model pull diffucoder-7b"
    })
final class ModelPullCommand implements Callable<Integer> {
  @Parameters(
      paramLabel = "NAME",
      description = "a name of 'model list', or synth:SHAPE[:TYPE[:SEED]]")
  String name;

  @Option(names = "--force", description = "get it again even if it is there")
  boolean force;

  @Override
  public Integer call() {
    Console console = new Console();
    console.result(Models.pull(name, force, console).file().toString());
    return ExitCode.FINE;
  }
}
