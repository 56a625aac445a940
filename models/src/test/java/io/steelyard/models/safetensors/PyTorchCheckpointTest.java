package io.steelyard.models.safetensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.Tensor;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder with pytorch_model.bin is the model that the same weights in safetensors are. */
class PyTorchCheckpointTest {
  private static final String INDEX = "pytorch_model.bin.index.json";

  @TempDir Path directory;

  private Path single() throws IOException {
    Path folder = Fixtures.folder("qwen3-bf16", directory);
    Files.delete(folder.resolve("model.safetensors"));
    copy("qwen3-bf16.bin", folder.resolve("pytorch_model.bin"));
    return folder;
  }

  private Path sharded() throws IOException {
    Path folder = Fixtures.folder("qwen3-bf16", directory);
    List<String> entries = new ArrayList<>();
    Files.delete(folder.resolve("model.safetensors"));
    for (int part = 1; part <= 2; part++) {
      String name = "pytorch_model-0000%d-of-00002.bin".formatted(part);
      Path file = folder.resolve(name);
      copy("qwen3-bf16-0000%d.bin".formatted(part), file);
      try (Checkpoint checkpoint = Checkpoint.open(file)) {
        checkpoint
            .tensors()
            .forEach(tensor -> entries.add("\"%s\": \"%s\"".formatted(tensor.name(), name)));
      }
    }
    Files.writeString(
        folder.resolve(INDEX), "{\"weight_map\": {" + String.join(",", entries) + "}}");
    return folder;
  }

  private static void copy(String resource, Path to) throws IOException {
    String at = "/io/steelyard/models/pickle/" + resource;
    try (InputStream in = PyTorchCheckpointTest.class.getResourceAsStream(at)) {
      Files.copy(in, to);
    }
  }

  private void assertSame(Path given, String format) throws IOException {
    try (ModelFile safe = ModelFile.open(Fixtures.folder("qwen3-bf16", directory.resolve("safe")));
        ModelFile pickled = ModelFile.open(given)) {
      assertThat(pickled.format()).isEqualTo(format);
      assertThat(pickled.tensorNames()).containsExactlyInAnyOrderElementsOf(safe.tensorNames());
      for (Tensor tensor : safe.tensors()) {
        Tensor other = pickled.require(tensor.name());
        assertThat(other.type()).isEqualTo(tensor.type());
        assertThat(other.rows()).isEqualTo(tensor.rows());
        assertThat(other.data().mismatch(tensor.data())).as(tensor.name()).isEqualTo(-1);
      }
      pickled.checkUnchanged();
    }
  }

  @Test
  void oneFileIsTheModel() throws IOException {
    Path folder = single();
    assertSame(folder, "PyTorch pickle, 1 file");
    assertThat(ModelFile.files(folder)).containsExactly(folder.resolve("pytorch_model.bin"));
  }

  @Test
  void aFileOfAFolderIsTheModel() throws IOException {
    assertSame(single().resolve("pytorch_model.bin"), "PyTorch pickle, 1 file");
  }

  @Test
  void severalFilesAreTheModel() throws IOException {
    assertSame(sharded(), "PyTorch pickle, 2 files");
  }

  @Test
  void theIndexOrAnyOfSeveralFilesIsTheModel() throws IOException {
    Path folder = sharded();
    try (ModelFile byIndex = ModelFile.open(folder.resolve(INDEX));
        ModelFile byFile = ModelFile.open(folder.resolve("pytorch_model-00002-of-00002.bin"))) {
      assertThat(byIndex.tensorNames()).containsExactlyElementsOf(byFile.tensorNames());
    }
    Files.delete(folder.resolve("pytorch_model-00002-of-00002.bin"));
    assertThatThrownBy(() -> ModelFile.open(folder))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("pytorch_model-00002-of-00002.bin can't be read: there is no such");
  }

  @Test
  void safetensorsAreTakenFirst() throws IOException {
    Path folder = Fixtures.folder("qwen3-bf16", directory);
    Files.writeString(folder.resolve("pytorch_model.bin"), "not even a ZIP archive");
    try (ModelFile model = ModelFile.open(folder)) {
      assertThat(model.format()).isEqualTo("safetensors, 1 file");
    }
    assertThatThrownBy(() -> ModelFile.open(folder.resolve("pytorch_model.bin")))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("is no file of PyTorch's");
  }
}
