package io.steelyard.lab.worker;

import io.steelyard.lab.worker.EngineException.Kind;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * A small engine for tests: each token's logits depend on the token before it alone. The option
 * {@code fault} makes it break one rule, and some kernels misbehave.
 */
final class TestEngine implements Engine {
  static final int VOCABULARY = 53;

  /** Makes it known to the worker processes of these tests. */
  public static final class Provider implements EngineProvider {
    @Override
    public String name() {
      return "test";
    }

    @Override
    public String description() {
      return "a bigram model for tests";
    }

    @Override
    public List<String> options() {
      return List.of("fault=NAME the rule to break");
    }

    @Override
    public List<String> jvmFlags(Map<String, String> options) {
      return List.of("-Xmx64m", "-XX:TieredStopAtLevel=1");
    }

    @Override
    public Engine create() {
      return new TestEngine();
    }
  }

  private String fault = "";
  private int calls;
  private boolean provedParity;

  @Override
  public EngineInfo hello() {
    return new EngineInfo(
        "test",
        "1",
        "java",
        List.of(),
        List.of("f32"),
        List.of("forward", "layers", "kernel"),
        true,
        "1");
  }

  @Override
  public LoadReport load(LoadRequest request) throws EngineException {
    // As an oracle it is asked for a tier; it has but one.
    if (!List.of("fault", "tier").containsAll(request.options().keySet())) {
      throw new EngineException(Kind.UNSUPPORTED, "options are " + request.options());
    }
    fault = request.options().getOrDefault("fault", "");
    return new LoadReport(
        Map.of("load", 1L),
        Map.of("weights", 10L),
        List.of(new EngineInfo.NativeLibrary("/lib/x.so", "00ff")),
        new LoadReport.Settings(
            "f32",
            request.kv(),
            "f32",
            request.threads(),
            "",
            request.context(),
            is("context") ? 8 : request.context(),
            request.flashAttention(),
            is("vocabulary") ? VOCABULARY + 1 : VOCABULARY,
            1,
            10));
  }

  private boolean is(String name) {
    return fault.equals(name);
  }

  static float[] row(int token) {
    float[] row = new float[VOCABULARY];
    for (int i = 0; i < VOCABULARY; i++) {
      row[i] = ((token * 31 + i * 17) % VOCABULARY) / 4f;
    }
    return row;
  }

  static int likeliest(int token) {
    float[] row = row(token);
    int best = 0;
    for (int i = 1; i < row.length; i++) {
      if (row[i] > row[best]) {
        best = i;
      }
    }
    return best;
  }

  @Override
  public int[] tokenize(String text, boolean parseSpecial) {
    int shift = is("tokenize") ? calls++ : 0;
    return text.chars().map(c -> (c + shift) % VOCABULARY).toArray();
  }

  @Override
  public void logits(int[] ids, RowSink out) throws IOException {
    provedParity = true;
    for (int i = 0; i < ids.length - (is("rows") ? 1 : 0); i++) {
      float[] row = row(ids[i]);
      if (is("nan")) {
        row[3] = Float.NaN;
      }
      out.row(MemorySegment.ofArray(is("width") ? Arrays.copyOf(row, VOCABULARY + 1) : row));
    }
  }

  @Override
  public PrefillReport prefill(PrefillRequest request) {
    if (is("measured") && !provedParity) {
      Runtime.getRuntime().halt(7); // dies in every process but that of the parity run
    }
    boolean wrong =
        is("argmax")
            || (is("depth") && request.depth() > 1)
            || (is("reset") && calls > 0)
            || (is("bad-ids") && request.ids().length == 2);
    int right = likeliest(request.ids()[request.ids().length - 1]);
    return new PrefillReport(is("long") ? Long.MAX_VALUE : 1, wrong ? (right + 1) % 53 : right);
  }

  @Override
  public DecodeReport decode(DecodeRequest request, TokenListener listener) {
    int tokens = request.tokens() - (is("length") ? 1 : 0);
    int[] ids = new int[tokens];
    long[] nanos = new long[tokens];
    float[] margins = new float[request.margins() ? tokens : 0];
    int token = request.ids()[request.ids().length - 1];
    for (int i = 0; i < tokens; i++) {
      float[] row = row(token);
      Arrays.sort(row);
      token = is("chain") && i == 3 ? (token + 5) % VOCABULARY : likeliest(token);
      ids[i] = token;
      nanos[i] = is("times") ? tokens - i : i;
      if (request.margins()) {
        margins[i] = is("margins") ? -1 : row[VOCABULARY - 1] - row[VOCABULARY - 2];
      }
      if (request.stream() && !is("stream")) {
        listener.token(token);
      }
    }
    if (is("repeats") && calls++ % 2 == 1) {
      ids[0] = (ids[0] + 1) % VOCABULARY;
    }
    return new DecodeReport(ids, nanos, margins);
  }

  @Override
  public ForwardReport forward(ForwardRequest request) {
    CRC32 checksum = new CRC32();
    checksum.update(is("forward") ? calls++ : 0);
    return new ForwardReport(1, checksum.getValue());
  }

  @Override
  public LayersReport layers(int[] ids, RowSink out) throws IOException {
    List<String> names = new ArrayList<>(List.of("embedding", "layer 0"));
    for (int i = 0; i < names.size() * ids.length; i++) {
      out.row(MemorySegment.ofArray(new float[] {i, is("layers") ? Float.NaN : 1}));
    }
    return new LayersReport(names, 2);
  }

  @Override
  public KernelReport kernel(KernelRequest request) throws EngineException {
    switch (request.name()) {
      case "nothing", "compute", "bandwidth" -> {}
      case "wait" -> waitForever();
      case "exit" -> Runtime.getRuntime().halt(7);
      case "memory" -> exhaustMemory();
      case "recursion" -> recurse(0);
      case "throw" -> throw new IllegalStateException("a fault of the engine");
      case "print" -> System.out.println("chatter of the engine");
      case "child" -> startChild("exec sleep 1000");
      case "print-natively" -> startChild("echo chatter of a library");
      default -> throw EngineException.unsupported(request.name());
    }
    return new KernelReport(1, 0);
  }

  private static void waitForever() throws EngineException {
    System.err.println("waiting");
    try {
      Thread.currentThread().join();
    } catch (InterruptedException e) {
      throw new EngineException(Kind.FAILED, "interrupted", e);
    }
  }

  private static void exhaustMemory() {
    List<long[]> hoard = new ArrayList<>();
    while (hoard.size() < Integer.MAX_VALUE) {
      hoard.add(new long[1 << 20]);
    }
  }

  private static int recurse(int depth) {
    return depth < 0 ? 0 : 1 + recurse(depth + 1);
  }

  /** A child inherits descriptor 1, as a native library would use it. */
  private static void startChild(String script) throws EngineException {
    try {
      Process child =
          new ProcessBuilder("/bin/sh", "-c", script)
              .redirectOutput(ProcessBuilder.Redirect.INHERIT)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      System.err.println("child " + child.pid() + ".");
      if (script.startsWith("echo")) {
        child.waitFor();
      }
    } catch (IOException | InterruptedException e) {
      throw new EngineException(Kind.FAILED, "no child: " + e, e);
    }
  }

  @Override
  public void reset() {
    calls++;
  }

  @Override
  public void close() {
    // Nothing to free.
  }
}
