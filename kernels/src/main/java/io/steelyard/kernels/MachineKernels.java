package io.steelyard.kernels;

import static io.steelyard.kernels.ThreadTeam.share;

import io.steelyard.kernels.avx2.Avx2;
import io.steelyard.kernels.codec.Repacker;
import io.steelyard.kernels.codec.TensorCodec;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.MachineCode.Single;
import io.steelyard.kernels.machine.Product;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Operators in machine code of our own, over all threads. */
final class MachineKernels implements Kernels {
  /** Values of a gate, each a nanosecond or so, that are worth waking the others for. */
  private static final int GATED_TOGETHER = 8192;

  private final ThreadTeam team;
  private final Tier tier;
  private final int few;
  private final MachineCode code;
  private final MachineMatmul matmul;
  private final MachineAttention attention;
  private final TeamCalls calls;
  private final RowCalls rowCalls;
  private final Store store = new Store();
  private final StoreSpans storeSpans = new StoreSpans();
  private float[] decoded = new float[0];

  /** Writes keys and values of consecutive positions. */
  private final class Store implements ThreadTeam.Task {
    private MachineCache cache;
    private Rows keys;
    private Rows values;
    private int position;
    private int tokens;

    void run(MachineCache cache, Rows keys, Rows values, int position, int tokens, int end) {
      this.cache = cache;
      this.keys = keys;
      this.values = values;
      this.position = position;
      this.tokens = tokens;
      if (tokens <= MachineMatmul.FEW) {
        run(0, 1);
      } else {
        team.run(this);
      }
      cache.clearAfter(end - 1);
    }

    @Override
    public void run(int member, int members) {
      CallList list = calls.of(member);
      int end = share(tokens, member + 1, members);
      for (int row = share(tokens, member, members); row < end; row++) {
        cache.store(list, code, position + row, keys.address(row), values.address(row));
      }
      list.run();
    }
  }

  /**
   * Writes keys and values of several sequences of few tokens: one alone is too little to share.
   */
  private final class StoreSpans implements ThreadTeam.Task {
    private List<? extends CachedSpan> spans;
    private Rows keys;
    private Rows values;

    void run(List<? extends CachedSpan> spans, Rows keys, Rows values) {
      this.spans = spans;
      this.keys = keys;
      this.values = values;
      team.run(this);
    }

    @Override
    public void run(int member, int members) {
      CallList list = calls.of(member);
      int row = 0;
      for (int i = 0; i < spans.size(); i++) {
        CachedSpan span = spans.get(i);
        if (i % members == member) {
          MachineCache cache = (MachineCache) span.keyValues();
          for (int token = 0; token < span.tokens(); token++) {
            long key = keys.address(row + token);
            long value = values.address(row + token);
            cache.store(list, code, span.position() + token, key, value);
          }
          cache.clearAfter(span.end() - 1);
        }
        row += span.tokens();
      }
      list.run();
    }
  }

  /** Begins. */
  MachineKernels(ThreadTeam team, Tier tier, MachineCode code, boolean deterministic) {
    this.team = team;
    this.tier = tier;
    this.code = code;
    few = deterministic ? Integer.MAX_VALUE : MachineMatmul.FEW;
    calls = new TeamCalls(team, code);
    matmul = new MachineMatmul(team, code, few, calls);
    attention = new MachineAttention(team, code, few, calls);
    rowCalls = new RowCalls(team, calls);
  }

  @Override
  public Tier tier() {
    return tier;
  }

  @Override
  public String description() {
    return description(tier);
  }

  @Override
  public String activations(Set<DataType> weights) {
    List<String> roundings = new ArrayList<>();
    Set<DataType> held = weights.stream().map(Repacker::target).collect(Collectors.toSet());
    Set<String> prompts = new TreeSet<>();
    Set<String> decoding = new TreeSet<>();
    for (DataType type : held) {
      if (code.product(type).isInteger()) {
        String integers = code.product(type).isWords() ? "int16" : "int8";
        prompts.add(code.tiles().isPresent() ? "bf16" : integers);
        decoding.add(code.fewFormat(type).numbers());
      }
    }
    if (!prompts.isEmpty()) {
      String prompt = String.join(" and ", prompts);
      String decode = String.join(" and ", decoding);
      roundings.add(prompt.equals(decode) ? prompt : prompt + " (prompt), " + decode + " (decode)");
    }
    if (held.stream().anyMatch(this::roundsPromptToBf16)) {
      roundings.add("bf16 (prompt)");
    }
    if (held.contains(DataType.NF4) && code.tiles().isEmpty()) {
      roundings.add("f32 with levels as f16");
    }
    if (held.contains(DataType.F16) && code.tiles().isPresent()) {
      roundings.add("two bf16 (prompt)");
    }
    if (weights.stream()
        .anyMatch(type -> Repacker.target(type) == DataType.F16 && Repacker.rounds(type))) {
      roundings.add("f32 with weights as f16");
    }
    return roundings.isEmpty() ? "f32" : String.join(", ", roundings);
  }

  /** Whether activations of prompts are rounded to bf16 for a type that isn't in whole numbers. */
  private boolean roundsPromptToBf16(DataType type) {
    return code.tiles()
        .filter(tiles -> tiles.takes(type))
        .map(tiles -> !tiles.splits(type) && !code.product(type).isInteger())
        .orElse(code.product(type) == Product.BF16);
  }

  static String description(Tier tier) {
    return switch (tier) {
      case AVX2 -> Avx2.description();
      case AVX512 -> "avx512 vnni bf16";
      case AMX -> "amx bf16, avx512 vnni bf16";
      default -> throw new IllegalArgumentException(tier + " has no machine code");
    };
  }

  @Override
  public int threads() {
    return team.threads();
  }

  @Override
  public int fewTokens() {
    return few;
  }

  @Override
  public long scratchBytes() {
    return matmul.scratchBytes() + attention.scratchBytes();
  }

  @Override
  public Matrix prepare(List<Tensor> parts, Arena arena) {
    return Repacking.of(StackedMatrix.of(parts), team, arena);
  }

  @Override
  public void embed(Matrix table, int[] ids, int from, int tokens, Rows out) {
    Operands.embed(table, ids, from, tokens, out);
    StackedMatrix stacked = (StackedMatrix) table;
    int columns = table.columns();
    if (decoded.length != columns) {
      decoded = new float[columns];
    }
    for (int token = 0; token < tokens; token++) {
      int p = stacked.part(ids[from + token]);
      Tensor part = stacked.parts().get(p);
      long row = ids[from + token] - stacked.firstRow(p);
      TensorCodec.decode(part, row, decoded);
      RawMemory.putFloats(out.address(token), decoded, columns);
    }
  }

  @Override
  public void matmul(Matrix weights, Rows x, Rows y, int tokens) {
    Operands.matmul(weights, x, y, tokens);
    matmul.multiply((StackedMatrix) weights, x, y, tokens);
  }

  private static long bits(float value) {
    return Float.floatToRawIntBits(value) & 0xFFFF_FFFFL;
  }

  @Override
  public void rmsNorm(Rows x, Rows weight, float epsilon, Rows y, int tokens) {
    Operands.rmsNorm(x, weight, y, tokens);
    norm(Single.RMS_NORM, x, weight, epsilon, y, tokens);
  }

  @Override
  public void layerNorm(Rows x, Rows weight, float epsilon, Rows y, int tokens) {
    Operands.layerNorm(x, weight, y, tokens);
    norm(Single.LAYER_NORM, x, weight, epsilon, y, tokens);
  }

  private void norm(Single which, Rows x, Rows weight, float epsilon, Rows y, int tokens) {
    int width = weight.width();
    rowCalls
        .of(code.single(which))
        .row(x)
        .constant(weight.address(0))
        .row(y)
        .constant(width)
        .constant(bits(epsilon))
        .constant(bits(width))
        .repeat(x.width() / width, (long) Float.BYTES * width)
        .run(tokens);
  }

  @Override
  public void rope(Rope rope, Rows angles, Rows x, int headDimension, int tokens) {
    Operands.rope(rope, angles, x, headDimension, tokens);
    boolean interleaved = rope.layout() == Rope.Layout.INTERLEAVED;
    rowCalls
        .of(code.single(interleaved ? Single.ROPE_INTERLEAVED : Single.ROPE_SPLIT))
        .row(x)
        .row(angles)
        .constant(x.width() / headDimension)
        .constant(4L * headDimension)
        .constant(rope.dimensions() / 2)
        .run(tokens);
  }

  @Override
  public KeyValues keyValues(Arena arena, KeyValues.Shape shape) {
    return new MachineCache(arena, shape);
  }

  @Override
  public void store(KeyValues cache, Rows keys, Rows values, int position, int tokens) {
    replace(cache, keys, values, position, tokens, position + tokens);
  }

  @Override
  public void replace(KeyValues cache, Rows keys, Rows values, int position, int tokens, int end) {
    Operands.store(cache, keys, values, position, tokens);
    if (tokens > 0) {
      store.run((MachineCache) cache, keys, values, position, tokens, end);
    }
  }

  @Override
  public void replace(List<? extends CachedSpan> spans, Rows keys, Rows values) {
    if (spans.size() == 1 || !haveFewTokens(spans)) {
      Kernels.super.replace(spans, keys, values);
      return;
    }
    Operands.spans(spans);
    int tokens = 0;
    for (int i = 0; i < spans.size(); i++) {
      CachedSpan span = spans.get(i);
      Operands.store(span.keyValues(), keys, values, span.position(), span.tokens());
      tokens += span.tokens();
    }
    Operands.elementwise(keys, values, values, tokens);
    storeSpans.run(spans, keys, values);
  }

  @Override
  public void attention(
      Rows queries, KeyValues cache, int position, AttentionRule rule, Rows out, int tokens) {
    Operands.attention(queries, cache, position, out, tokens);
    attention.run((MachineCache) cache, queries, out, position, tokens, rule);
  }

  @Override
  public void attention(
      Rows queries, List<? extends CachedSpan> spans, AttentionRule rule, Rows out) {
    if (spans.size() == 1 || !haveFewTokens(spans)) {
      Kernels.super.attention(queries, spans, rule, out);
      return;
    }
    Operands.spans(spans);
    int tokens = 0;
    for (int i = 0; i < spans.size(); i++) {
      CachedSpan span = spans.get(i);
      Operands.attention(queries, span.keyValues(), span.queriesFrom(), out, span.tokens());
      tokens += span.tokens();
    }
    Operands.elementwise(queries, queries, out, tokens);
    attention.run(spans, queries, out, rule);
  }

  private boolean haveFewTokens(List<? extends CachedSpan> spans) {
    for (int i = 0; i < spans.size(); i++) {
      if (spans.get(i).tokens() > few) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void gate(Activation activation, Rows gate, Rows up, Rows out, int tokens) {
    Operands.elementwise(gate, up, out, tokens);
    boolean worth = (long) tokens * gate.width() >= GATED_TOGETHER;
    rowCalls
        .of(code.single(activation == Activation.SILU ? Single.SILU_GATE : Single.GELU_GATE))
        .row(gate)
        .row(up)
        .row(out)
        .constant(gate.width())
        .run(tokens, worth);
  }

  @Override
  public void activate(Activation activation, Rows x, int tokens) {
    Operands.rows(x, tokens);
    rowCalls
        .of(code.single(activation == Activation.SILU ? Single.SILU : Single.GELU))
        .row(x)
        .constant(x.width())
        .run(tokens);
  }

  @Override
  public void addBias(Rows x, Rows bias, int tokens) {
    Operands.bias(x, bias, tokens);
    rowCalls
        .of(code.single(Single.ADD))
        .row(x)
        .constant(bias.address(0))
        .constant(x.width())
        .run(tokens);
  }

  @Override
  public void scale(Rows x, float factor, int tokens) {
    Operands.rows(x, tokens);
    rowCalls
        .of(code.single(Single.SCALE))
        .row(x)
        .row(x)
        .constant(x.width())
        .constant(bits(factor))
        .run(tokens);
  }

  @Override
  public void softCap(Rows x, float cap, int tokens) {
    Operands.rows(x, tokens);
    rowCalls
        .of(code.single(Single.SOFT_CAP))
        .row(x)
        .constant(x.width())
        .constant(bits(cap))
        .constant(bits(-2 / cap))
        .run(tokens);
  }

  @Override
  public void add(Rows x, Rows delta, int tokens) {
    Operands.elementwise(x, delta, x, tokens);
    rowCalls.of(code.single(Single.ADD)).row(x).row(delta).constant(x.width()).run(tokens);
  }

  @Override
  public void multiply(Rows x, Rows by, int tokens) {
    Operands.elementwise(x, by, x, tokens);
    rowCalls.of(code.single(Single.MULTIPLY)).row(x).row(by).constant(x.width()).run(tokens);
  }

  @Override
  public void close() {
    team.close();
    matmul.close();
    calls.close();
    attention.close();
  }
}
