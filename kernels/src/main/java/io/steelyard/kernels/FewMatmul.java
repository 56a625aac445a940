package io.steelyard.kernels;

import static io.steelyard.kernels.ThreadTeam.share;

import io.steelyard.kernels.machine.FewFormat;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Products of matrices with few tokens: what decoding does. Weights are read as they lie in the
 * file, by each thread its own share of every matrix's rows, in as many long streams as a group has
 * rows. Shares are dealt in pieces, and who has finished takes from the others', since processors
 * are not equally fast at every moment.
 */
final class FewMatmul {
  /** The least groups of a piece. */
  private static final int LEAST_GROUPS = 8;

  /**
   * Bytes of weights between one chunk of tokens and the next: they stay in the first-level cache.
   */
  private static final int BLOCK_BYTES = 10 << 10;

  /** Activations that are worth waking the others for: four or so are rounded in a nanosecond. */
  private static final int ROUNDED_TOGETHER = 16_384;

  /** Distance of two members' counters, so that no two share a line. */
  private static final int APART = 32;

  private final ThreadTeam team;
  private final MachineCode code;
  private final TeamScratch scratch;
  private final TeamCalls calls;

  // The operands of the product in progress; fields, so that a call allocates nothing.
  private StackedMatrix weights;
  private Rows x;
  private Rows y;
  private int tokens;

  /** Activations in each format that has been asked for. */
  private final List<Activations> formats = new ArrayList<>();

  /** How many groups of each member's share have been taken. */
  private final AtomicIntegerArray taken;

  private final ThreadTeam.Task shares = this::shares;
  private final ThreadTeam.Task round = this::round;

  FewMatmul(ThreadTeam team, MachineCode code, TeamScratch scratch, TeamCalls calls) {
    this.team = team;
    this.code = code;
    this.scratch = scratch;
    this.calls = calls;
    taken = new AtomicIntegerArray(team.threads() * APART);
  }

  void multiply(StackedMatrix weights, Rows x, Rows y, int tokens) {
    this.weights = weights;
    this.x = x;
    this.y = y;
    this.tokens = tokens;
    for (int i = 0; i < formats.size(); i++) {
      formats.get(i).wanted = false;
    }
    for (int p = 0; p < weights.held().size(); p++) {
      DataType type = weights.held().get(p).type();
      if (code.product(type).isInteger()) {
        activations(type).wanted = true;
      }
      // Assembled here, before several threads ask for it.
      int chunk = code.fewTokens(type);
      for (int token = 0; token < tokens; token += chunk) {
        code.few(type, Math.min(chunk, tokens - token));
      }
    }
    writeActivations();
    for (int member = 0; member < team.threads(); member++) {
      taken.set(member * APART, 0);
    }
    team.run(shares);
  }

  /** Where the activations for a type that is multiplied as whole numbers are. */
  private Activations activations(DataType type) {
    FewFormat format = code.fewFormat(type);
    for (int i = 0; i < formats.size(); i++) {
      if (formats.get(i).format.equals(format)) {
        return formats.get(i);
      }
    }
    Activations made = new Activations(format);
    formats.add(made);
    return made;
  }

  private void writeActivations() {
    long bytes = 0;
    for (int i = 0; i < formats.size(); i++) {
      bytes += formats.get(i).lay(weights.columns() / 32, tokens);
    }
    long address = scratch.shared().atLeast(bytes);
    for (int i = 0; i < formats.size(); i++) {
      if (formats.get(i).wanted) {
        code.single(formats.get(i).format.function());
        formats.get(i).address = address;
        address += tokens * formats.get(i).stride;
      }
    }
    if ((long) tokens * weights.columns() >= ROUNDED_TOGETHER) {
      team.run(round);
    } else {
      round(0, 1);
    }
  }

  private void round(int member, int members) {
    int begin = share(tokens, member, members);
    int end = share(tokens, member + 1, members);
    for (int i = 0; i < formats.size(); i++) {
      if (formats.get(i).wanted) {
        formats.get(i).write(begin, end);
      }
    }
  }

  /** Activations of all tokens in one format. */
  private final class Activations {
    final FewFormat format;

    /** Whether a part of the product in progress takes them. */
    boolean wanted;

    long address;

    /** Bytes from one token to the next. */
    long stride;

    /** Where what is behind the blocks begins, and where sums do, in bytes from a token's first. */
    long scales;

    long sums;

    private int blocks;

    /**
     * Blocks are taken eight at a time, or sums for four in a register of eight; what isn't there
     * is 0.
     */
    private int room;

    Activations(FewFormat format) {
      this.format = format;
    }

    /** How many bytes they take, if they are wanted. */
    long lay(int blocks, int tokens) {
      this.blocks = blocks;
      room = (blocks + 7) / 8 * 8;
      scales = (long) room * format.block();
      sums = scales + (long) room * format.scale();
      stride = (sums + (long) room * format.sum() + 2 * 64 - 1) / 64 * 64;
      return wanted ? tokens * stride : 0;
    }

    void write(int begin, int end) {
      Function function = code.single(format.function());
      int lastEight = blocks / 8 * 8;
      int places = room - lastEight;
      for (int token = begin; token < end; token++) {
        long to = address + token * stride;
        RawMemory.clear(to + (long) format.block() * lastEight, (long) format.block() * places);
        RawMemory.clear(
            to + scales + (long) format.scale() * lastEight, (long) format.scale() * places);
        RawMemory.clear(
            to + sums + (long) format.sum() * lastEight, (long) format.sum() * places + 32);
        function.call(x.address(token), to, blocks, to + scales, to + sums);
      }
    }
  }

  private void shares(int member, int members) {
    CallList list = calls.of(member);
    for (int i = 0; i < members; i++) {
      int owner = (member + i) % members;
      int groups = 0;
      for (int p = 0; p < weights.held().size(); p++) {
        groups += groups(weights.held().get(p), owner, members);
      }
      int piece = piece(groups, members);
      int begin = taken.getAndAdd(owner * APART, piece);
      while (begin < groups) {
        piece(owner, members, begin, Math.min(groups, begin + piece), list);
        list.run();
        piece = piece(groups - begin - piece, members);
        begin = taken.getAndAdd(owner * APART, piece);
      }
    }
  }

  /**
   * How many of the groups that are left are taken at once: ever fewer, so that all end together.
   */
  private static int piece(int left, int members) {
    return members == 1 ? left : Math.max(LEAST_GROUPS, left / 2);
  }

  /** The first row of a member's share of a part. */
  private int firstRow(Tensor part, int owner, int members) {
    int rows = (int) part.rows();
    return owner == members ? rows : share(rows / code.fewRows(), owner, members) * code.fewRows();
  }

  /** Groups of a share; rows that are left over are one each. */
  private int groups(Tensor part, int owner, int members) {
    int rows = firstRow(part, owner + 1, members) - firstRow(part, owner, members);
    return rows / code.fewRows() + rows % code.fewRows();
  }

  /** Some groups of a share of all parts. */
  private void piece(int owner, int members, int begin, int end, CallList list) {
    int first = 0;
    int before = 0;
    for (int p = 0; p < weights.held().size(); p++) {
      Tensor part = weights.held().get(p);
      int count = groups(part, owner, members);
      int from = Math.max(begin - before, 0);
      int to = Math.min(end - before, count);
      if (from < to) {
        int row = firstRow(part, owner, members);
        int rows = firstRow(part, owner + 1, members) - row;
        groups(part, row, rows / code.fewRows(), from, to, first, list);
      }
      before += count;
      first += (int) part.rows();
    }
  }

  /**
   * Multiplies groups of rows of a part.
   *
   * @param row the share's first
   * @param whole groups that have all their rows, which are as many rows apart
   * @param first the part's first row in the product
   */
  private void groups(Tensor part, int row, int whole, int from, int to, int first, CallList list) {
    // Weights that several calls need are taken a few rows at a time.
    int fitting = Math.max(1, (int) (BLOCK_BYTES / (part.rowBytes() * code.fewRows())));
    int step = tokens <= code.fewTokens(part.type()) ? to : fitting;
    for (int group = from; group < Math.min(to, whole); group += step) {
      int count = Math.min(step, Math.min(to, whole) - group);
      multiply(part, row + group, count, whole, first, list);
    }
    for (int group = Math.max(from, whole); group < to; group++) {
      // All rows of such a group are the same.
      multiply(part, row + whole * code.fewRows() + group - whole, 1, 0, first, list);
    }
  }

  private void multiply(Tensor part, int row, int groups, int distance, int first, CallList list) {
    DataType type = part.type();
    boolean integers = code.product(type).isInteger();
    Activations activations = integers ? activations(type) : null;
    long address = part.data().address() + row * part.rowBytes();
    int chunk = code.fewTokens(type);
    for (int token = 0; token < tokens; token += chunk) {
      long stride = integers ? activations.stride : 4L * x.stride();
      list.add(
          code.few(type, Math.min(chunk, tokens - token)),
          address,
          distance * part.rowBytes(),
          integers ? activations.address + token * stride : x.address(token),
          stride,
          y.address(token) + 4L * (first + row));
      list.put(0, part.columns() / type.blockSize());
      list.put(1, groups);
      list.put(2, 4L * y.stride());
      list.put(3, 4L * distance);
      list.put(4, integers ? activations.scales : 0);
      list.put(5, part.rowBytes());
      list.put(6, integers ? activations.sums : 0);
    }
  }
}
