package io.steelyard.lab.worker;

/** An engine that runs no model: it serves {@link #kernel} alone. */
public abstract class KernelEngine implements Engine {
  @Override
  public abstract KernelReport kernel(KernelRequest request) throws EngineException;

  @Override
  public LoadReport load(LoadRequest request) throws EngineException {
    throw EngineException.unsupported("load");
  }

  @Override
  public int[] tokenize(String text, boolean parseSpecial) throws EngineException {
    throw EngineException.unsupported("tokenize");
  }

  @Override
  public void logits(int[] ids, RowSink out) throws EngineException {
    throw EngineException.unsupported("logits");
  }

  @Override
  public PrefillReport prefill(PrefillRequest request) throws EngineException {
    throw EngineException.unsupported("prefill");
  }

  @Override
  public DecodeReport decode(DecodeRequest request, TokenListener listener) throws EngineException {
    throw EngineException.unsupported("decode");
  }

  @Override
  public void reset() throws EngineException {
    // There is no cache.
  }
}
