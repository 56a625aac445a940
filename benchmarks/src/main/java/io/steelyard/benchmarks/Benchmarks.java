package io.steelyard.benchmarks;

import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import java.util.Arrays;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * JMH's own command line with two defaults of ours: the flags that kernels need, and, unless {@code
 * -p tier=…} says otherwise, the tiers that this processor can run.
 */
public final class Benchmarks {
  private static final String TIER = "tier";

  /** Flags of every process that measures; the last is for JMH itself. */
  private static final String[] FLAGS = {
    "--add-modules=jdk.incubator.vector",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow"
  };

  private Benchmarks() {}

  public static void main(String[] arguments) throws Exception {
    CommandLineOptions asked;
    try {
      asked = new CommandLineOptions(arguments);
    } catch (CommandLineOptionException e) {
      System.err.println(e.getMessage());
      System.exit(2);
      return;
    }
    if (asked.shouldHelp()) {
      asked.showHelp();
    } else if (asked.shouldList()) {
      new Runner(asked).list();
    } else {
      run(asked);
    }
  }

  private static void run(CommandLineOptions asked) throws RunnerException {
    OptionsBuilder options = new OptionsBuilder();
    options.parent(asked);
    if (!asked.getJvmArgsPrepend().hasValue()) {
      options.jvmArgsPrepend(FLAGS);
    }
    if (!asked.getParameter(TIER).hasValue()) {
      options.param(
          TIER,
          Arrays.stream(Tier.values())
              .filter(Benchmarks::measurable)
              .map(Tier::name)
              .toArray(String[]::new));
    }
    new Runner(options.build()).run();
  }

  /** The vector tier's module is there in the processes that measure, maybe not in this one. */
  private static boolean measurable(Tier tier) {
    return tier == Tier.VECTOR || (tier != Tier.REFERENCE && Kernels.available(tier));
  }
}
