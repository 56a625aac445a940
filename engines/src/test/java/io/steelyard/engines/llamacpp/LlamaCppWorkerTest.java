package io.steelyard.engines.llamacpp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.lab.worker.Conformance;
import io.steelyard.lab.worker.Conformance.Check;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.lab.worker.Timeouts;
import io.steelyard.lab.worker.WorkerCommand;
import io.steelyard.lab.worker.WorkerProcess;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** llama.cpp in a process of its own, over the worker protocol. */
class LlamaCppWorkerTest {
  @TempDir private Path folder;

  @Test
  void passesTheCheckThatAnyEngineCanBePutThrough() throws Exception {
    String home = Installed.installer().status().directory().orElseThrow().toString();
    Path model = folder.resolve("llama.gguf");
    try (InputStream in = LlamaCppWorkerTest.class.getResourceAsStream("llama.gguf")) {
      Files.copy(in, model);
    }
    List<Check> checks =
        Conformance.check(
            worker(Map.of(LlamaCppInstaller.HOME, home)),
            EngineSpec.parse("llamacpp"),
            Optional.of(model),
            folder,
            Timeouts.DEFAULT,
            check -> {});
    assertThat(checks).noneMatch(check -> check.state() == Conformance.State.FAILED);
    assertThat(checks)
        .filteredOn(check -> check.state() == Conformance.State.SKIPPED)
        .extracting(Check::name)
        .containsExactly("gives finite outputs of every layer");
  }

  @Test
  void saysWhatToInstallWhenStartedWithoutInstallation() throws Exception {
    WorkerCommand command = worker(Map.of("STEELYARD_CACHE", folder.toString()));
    assertThatThrownBy(
            () ->
                WorkerProcess.start(command, folder.resolve("log"), folder, Timeouts.DEFAULT)
                    .close())
        .hasMessageContaining("./steelyard engines install llamacpp");
  }

  private WorkerCommand worker(Map<String, String> environment) throws Exception {
    WorkerCommand plain = EngineRegistry.of(folder).command(EngineSpec.parse("llamacpp"));
    return new WorkerCommand(plain.engine(), plain.command(), environment, "");
  }
}
