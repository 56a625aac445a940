package io.steelyard.lab.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EngineRegistryTest {
  @TempDir private Path folder;

  @Test
  void builtInEnginesAreStartedWithThisJavaAndTheirOwnFlags() throws EngineException {
    WorkerCommand command = EngineRegistry.of(folder).command(EngineSpec.parse("test"));
    assertThat(command.command())
        .contains(
            System.getProperty("java.home") + "/bin/java",
            "-XX:+UseSerialGC",
            "-Xmx64m",
            WorkerMain.class.getName(),
            TestEngine.Provider.class.getName());
    assertThat(command.command().indexOf("-Xmx64m"))
        .isGreaterThan(command.command().indexOf(WorkerCommand.HEAP));
  }

  @Test
  void usersEnginesComeFromTheirFolder() throws IOException, EngineException {
    write("mine", "{\"name\":\"mine\",\"description\":\"d\",\"command\":[\"prog\",\"-x\"]}");
    EngineRegistry registry = EngineRegistry.of(folder);
    assertThat(registry.command(EngineSpec.parse("mine:a=b")).command())
        .containsExactly("prog", "-x");
    assertThat(registry.entries()).extracting(EngineRegistry.Entry::name).contains("mine", "test");
    assertThat(registry.problems()).isEmpty();
  }

  @Test
  void filesThatCanNotBeUsedAreNamedWithTheReason() throws IOException {
    write("a", "{\"name\":\"a\",\"description\":\"d\"}");
    write("b", "rubbish");
    write("c", "{\"name\":\"c:d\",\"description\":\"d\",\"command\":[\"x\"]}");
    write("d", "{\"name\":\"d\",\"description\":\"d\",\"command\":[]}");
    write("e", "{\"name\":\"test\",\"description\":\"d\",\"command\":[\"x\"]}");
    write("f", " ".repeat(100_000));
    assertThat(EngineRegistry.of(folder).problems())
        .satisfiesExactly(
            a -> assertThat(a).contains("a.json").contains("'engine.command' is missing"),
            b -> assertThat(b).contains("b.json").contains("not valid JSON"),
            c -> assertThat(c).contains("c:d"),
            d -> assertThat(d).contains("command is empty"),
            e -> assertThat(e).contains("is hidden by that of built in"),
            f -> assertThat(f).contains("larger than"));
  }

  @Test
  void anUnknownNameIsAnsweredWithThoseNearIt() {
    assertThatThrownBy(() -> EngineRegistry.of(folder).command(EngineSpec.parse("tset")))
        .isInstanceOf(EngineException.class)
        .hasMessageContaining("no engine 'tset'")
        .hasMessageContaining("did you mean test?");
  }

  @Test
  void aProgramMustExistAndBeExecutable() throws IOException, EngineException {
    EngineRegistry registry = EngineRegistry.of(folder);
    Path program = folder.resolve("engine");
    assertThatThrownBy(() -> registry.command(EngineSpec.parse(program.toString())))
        .hasMessageContaining("does not exist");
    Files.writeString(program, "#!/bin/sh\n");
    assertThatThrownBy(() -> registry.command(EngineSpec.parse(program.toString())))
        .hasMessageContaining("chmod +x");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    assertThat(registry.command(EngineSpec.parse(program.toString())).command())
        .containsExactly(program.toString());
  }

  private void write(String name, String text) throws IOException {
    Files.writeString(folder.resolve(name + ".json"), text);
  }
}
