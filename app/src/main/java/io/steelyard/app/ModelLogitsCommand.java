package io.steelyard.app;

import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.lab.worker.FloatRows;
import io.steelyard.models.catalogue.ResolvedModel;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "logits",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Writes the logits of given token ids, teacher-forced.",
      "",
      "The file is float32, little-endian, [positions, vocabulary]."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard model logits default --ids 1,2,3 --out logits.f32",
      "  ./steelyard model logits default --ids 1,2,3 --tier reference --out logits.f32",
      "  ./steelyard model logits default --ids 1,2,3 --engine llamacpp --out logits.f32"
    })
final class ModelLogitsCommand implements Callable<Integer> {
  /** A buffer holds less than 2 GB; logits of a long text may be more. */
  private static final long CHUNK = 1 << 28;

  @Parameters(
      paramLabel = "MODEL",
      description = "a name of 'model list', a GGUF file, or a folder with safetensors")
  String model;

  @Option(
      names = "--ids",
      paramLabel = "ID",
      split = ",",
      required = true,
      description = "token ids")
  List<Integer> ids;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      required = true,
      description = "where to write them")
  Path out;

  @Option(
      names = {"-e", "--engine"},
      paramLabel = "ENGINE",
      defaultValue = "steelyard",
      description = "the engine")
  String engine;

  @Option(
      names = "--tier",
      paramLabel = "TIER",
      description = "reference, vector, avx2, avx512 or amx; for Steelyard's own engine")
  String tier;

  @Option(
      names = "--kv",
      paramLabel = "TYPE",
      defaultValue = "f32",
      description = "type of the KV cache: f16, f32 or q8_0")
  String kv;

  @Mixin ThreadsOption threads;

  @Override
  public Integer call() throws Exception {
    int team = threads.count();
    StudyOptions.requireKvType(kv);
    Path folder = out.toAbsolutePath().getParent();
    if (Files.isDirectory(out) || folder == null || !Files.isDirectory(folder)) {
      throw new UsageException("--out " + out + ": name a file in a folder that is there");
    }
    Console console = new Console();
    String text = tier == null ? engine : StudyOptions.withOption(engine, "tier=" + tier);
    EngineSpec spec = StudyOptions.parse(Engines.prepare(List.of(text), console).getFirst());
    OwnModel.tell(Stream.of(spec));
    ResolvedModel resolved = Models.resolve(model, console);
    Models.checkContext(resolved, ids.size());
    int[] given = ids.stream().mapToInt(Integer::intValue).toArray();
    try (AdHocWorker worker = AdHocWorker.start(spec, resolved, team, given.length, kv);
        FloatRows rows = worker.worker().logits(given).value()) {
      write(rows);
      console.note("%d positions × %d logits in %s".formatted(rows.rows(), rows.width(), out));
    }
    return ExitCode.FINE;
  }

  private void write(FloatRows rows) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            out,
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      MemorySegment values = rows.segment();
      for (long from = 0; from < values.byteSize(); from += CHUNK) {
        ByteBuffer bytes =
            values.asSlice(from, Math.min(CHUNK, values.byteSize() - from)).asByteBuffer();
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
      }
    }
  }
}
