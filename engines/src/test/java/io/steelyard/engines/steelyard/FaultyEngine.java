package io.steelyard.engines.steelyard;

import io.steelyard.lab.worker.DecodeReport;
import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.Engine;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineInfo;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.lab.worker.LoadRequest;
import io.steelyard.lab.worker.PrefillReport;
import io.steelyard.lab.worker.PrefillRequest;
import io.steelyard.lab.worker.RowSink;
import io.steelyard.lab.worker.TokenListener;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The real engine over a model or arithmetic with a planted fault. */
final class FaultyEngine implements Engine {
  private Fault fault = Fault.TOKEN;
  private SteelyardEngine engine = new SteelyardEngine(Map.of());
  private boolean oneTokenSpoilt;

  @Override
  public EngineInfo hello() throws EngineException {
    EngineInfo info = engine.hello();
    return new EngineInfo(
        "faulty",
        info.version(),
        info.backend(),
        info.libraries(),
        info.precisions(),
        List.of(),
        info.hosted(),
        info.build());
  }

  @Override
  public LoadReport load(LoadRequest request) throws EngineException {
    Map<String, String> options = new HashMap<>(request.options());
    fault = Fault.valueOf(options.remove("fault"));
    engine = new SteelyardEngine(Map.of(), fault.arithmetic());
    try {
      Path copy = Files.createTempFile("faulty-", ".gguf");
      fault.plant(Path.of(request.model()), copy);
      LoadReport report =
          engine.load(
              new LoadRequest(
                  copy.toString(),
                  request.threads(),
                  request.context(),
                  request.kv(),
                  request.flashAttention(),
                  options));
      Files.delete(copy); // its mapping lives on
      return report;
    } catch (IOException e) {
      throw new EngineException(EngineException.Kind.FAILED, "can't plant the fault", e);
    }
  }

  @Override
  public int[] tokenize(String text, boolean parseSpecial) throws EngineException {
    int[] ids = engine.tokenize(text, parseSpecial);
    if (fault == Fault.TOKEN && !oneTokenSpoilt && ids.length > 20) {
      oneTokenSpoilt = true;
      ids[ids.length / 2] ^= 1;
    }
    return ids;
  }

  @Override
  public void logits(int[] ids, RowSink out) throws EngineException, IOException {
    engine.logits(ids, out);
  }

  @Override
  public PrefillReport prefill(PrefillRequest request) throws EngineException {
    return engine.prefill(request);
  }

  @Override
  public DecodeReport decode(DecodeRequest request, TokenListener listener) throws EngineException {
    return engine.decode(request, listener);
  }

  @Override
  public void reset() throws EngineException {
    engine.reset();
  }

  @Override
  public void close() {
    engine.close();
  }
}
