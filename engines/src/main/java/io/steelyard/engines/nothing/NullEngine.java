package io.steelyard.engines.nothing;

import io.steelyard.lab.worker.Affinity;
import io.steelyard.lab.worker.DecodeReport;
import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.Engine;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineInfo;
import io.steelyard.lab.worker.ForwardReport;
import io.steelyard.lab.worker.ForwardRequest;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.lab.worker.LoadRequest;
import io.steelyard.lab.worker.PrefillReport;
import io.steelyard.lab.worker.PrefillRequest;
import io.steelyard.lab.worker.RowSink;
import io.steelyard.lab.worker.TokenListener;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * An engine that serves every call without any work: its vocabulary is the 256 bytes, all logits
 * are 0, and so every token it chooses is 0. It never opens the model, so any path loads.
 */
final class NullEngine implements Engine {
  private static final int VOCABULARY = 256;

  @Override
  public EngineInfo hello() {
    return new EngineInfo(
        "null", "1", "nothing", List.of(), List.of("none"), List.of("forward"), true, "1");
  }

  @Override
  public LoadReport load(LoadRequest request) throws EngineException {
    if (!request.options().isEmpty()) {
      throw new EngineException(
          EngineException.Kind.UNSUPPORTED,
          "the null engine has no option '" + request.options().keySet().iterator().next() + "'");
    }
    return new LoadReport(
        Map.of("load", 0L),
        Map.of(),
        List.of(),
        new LoadReport.Settings(
            "none",
            request.kv(),
            "none",
            request.threads(),
            Affinity.current(),
            request.context(),
            request.context(),
            request.flashAttention(),
            VOCABULARY,
            0,
            0));
  }

  @Override
  public int[] tokenize(String text, boolean parseSpecial) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int[] ids = new int[bytes.length];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = bytes[i] & 0xff;
    }
    return ids;
  }

  @Override
  public void logits(int[] ids, RowSink out) throws IOException {
    MemorySegment zeros = MemorySegment.ofArray(new float[VOCABULARY]);
    for (int i = 0; i < ids.length; i++) {
      out.row(zeros);
    }
  }

  @Override
  public PrefillReport prefill(PrefillRequest request) {
    long start = System.nanoTime();
    return new PrefillReport(System.nanoTime() - start, 0);
  }

  @Override
  public DecodeReport decode(DecodeRequest request, TokenListener listener) {
    // Token 0 is all that comes, so if it stops, it stops at once.
    int tokens = request.stop().contains(0) ? 1 : request.tokens();
    int[] ids = new int[tokens];
    long[] nanos = new long[tokens];
    long start = System.nanoTime();
    for (int i = 0; i < tokens; i++) {
      nanos[i] = System.nanoTime() - start;
      if (request.stream()) {
        listener.token(ids[i]);
      }
    }
    return new DecodeReport(ids, nanos, request.margins() ? new float[tokens] : new float[0]);
  }

  @Override
  public ForwardReport forward(ForwardRequest request) {
    long start = System.nanoTime();
    long nanos = System.nanoTime() - start;
    CRC32 checksum = new CRC32();
    checksum.update(ByteBuffer.allocate(4 * request.ids().length * request.ids()[0].length));
    return new ForwardReport(nanos, checksum.getValue());
  }

  @Override
  public void reset() {
    // There is no cache.
  }

  @Override
  public void close() {
    // There is nothing to free.
  }
}
