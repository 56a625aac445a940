package io.steelyard.kernels.assembler;

import io.steelyard.kernels.assembler.Op.Encoding;
import io.steelyard.kernels.assembler.Op.Form;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Writes x86-64 machine code: the general instructions that loops need, and the vector instructions
 * of {@link Op}. Vector instructions take the VEX encoding where it serves, else EVEX.
 *
 * <p>Operands come in Intel's order, the destination first. Operands that an instruction can't have
 * are refused with {@link IllegalArgumentException}.
 *
 * <p>Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
 */
public final class Assembler {
  private static final int ALIGNED_LOOP = 32;

  private record Jump(int at, Label target) {}

  private byte[] code = new byte[1024];
  private int size;
  private final List<Jump> jumps = new ArrayList<>();
  private final boolean shortFormsOnly;
  private int mask;
  private boolean zeroing;

  /** For any processor that has the instructions written. */
  public Assembler() {
    this(false);
  }

  private Assembler(boolean shortFormsOnly) {
    this.shortFormsOnly = shortFormsOnly;
  }

  /** One that refuses what AVX2 does not have: EVEX encodings, masks, registers 16 to 31. */
  public static Assembler avx2() {
    return new Assembler(true);
  }

  /** What has been written, every jump resolved. */
  public byte[] code() {
    for (Jump jump : jumps) {
      if (jump.target.position == Label.UNBOUND) {
        throw new IllegalStateException("a jump leads to a label that was never placed");
      }
      int distance = jump.target.position - (jump.at + 4);
      for (int i = 0; i < 4; i++) {
        code[jump.at + i] = (byte) (distance >> (8 * i));
      }
    }
    return Arrays.copyOf(code, size);
  }

  // ---- General instructions.

  /** {@code to = from}. */
  public void mov(Gpr to, Gpr from) {
    general(0x89, from.number(), to);
  }

  /** {@code to = value}. */
  public void mov(Gpr to, long value) {
    if (value == (int) value && value >= 0) {
      rexFor(false, 0, 0, to.number());
      one(0xB8 + (to.number() & 7));
      four((int) value);
    } else {
      rexFor(true, 0, 0, to.number());
      one(0xB8 + (to.number() & 7));
      four((int) value);
      four((int) (value >> 32));
    }
  }

  /** Loads 8 bytes. */
  public void mov(Gpr to, Mem from) {
    general(0x8B, to.number(), from, true);
  }

  /** Stores 8 bytes. */
  public void mov(Mem to, Gpr from) {
    general(0x89, from.number(), to, true);
  }

  /** Loads 4 bytes; the upper half becomes zero. */
  public void mov32(Gpr to, Mem from) {
    general(0x8B, to.number(), from, false);
  }

  /** Stores 4 bytes. */
  public void mov32(Mem to, Gpr from) {
    general(0x89, from.number(), to, false);
  }

  /** The address of a place. */
  public void lea(Gpr to, Mem from) {
    general(0x8D, to.number(), from, true);
  }

  public void add(Gpr to, Gpr by) {
    general(0x01, by.number(), to);
  }

  public void add(Gpr to, int by) {
    immediate(0, to, by);
  }

  public void add(Gpr to, Mem by) {
    general(0x03, to.number(), by, true);
  }

  public void sub(Gpr to, Gpr by) {
    general(0x29, by.number(), to);
  }

  public void sub(Gpr to, int by) {
    immediate(5, to, by);
  }

  public void and(Gpr to, int by) {
    immediate(4, to, by);
  }

  public void or(Gpr to, Gpr by) {
    general(0x09, by.number(), to);
  }

  public void xor(Gpr to, Gpr by) {
    general(0x31, by.number(), to);
  }

  public void cmp(Gpr a, Gpr b) {
    general(0x39, b.number(), a);
  }

  public void cmp(Gpr a, int b) {
    immediate(7, a, b);
  }

  public void test(Gpr a, Gpr b) {
    general(0x85, b.number(), a);
  }

  public void shl(Gpr to, int count) {
    shift(4, to, count);
  }

  public void shr(Gpr to, int count) {
    shift(5, to, count);
  }

  /** {@code to <<= count mod 64}; BMI2. */
  public void shlx(Gpr to, Gpr from, Gpr count) {
    vex(2, 1, true, 0, to.number(), count.number(), 0, from.number());
    one(0xF7);
    registers(to.number(), from.number());
  }

  public void push(Gpr register) {
    rexFor(false, 0, 0, register.number());
    one(0x50 + (register.number() & 7));
  }

  public void pop(Gpr register) {
    rexFor(false, 0, 0, register.number());
    one(0x58 + (register.number() & 7));
  }

  /** Calls the function whose address a register holds. */
  public void call(Gpr address) {
    rexFor(false, 0, 0, address.number());
    one(0xFF);
    registers(2, address.number());
  }

  public void ret() {
    one(0xC3);
  }

  public void cpuid() {
    one(0x0F);
    one(0xA2);
  }

  public void xgetbv() {
    one(0x0F);
    one(0x01);
    one(0xD0);
  }

  /** Lets a label stand for this place. */
  public void place(Label label) {
    if (label.position != Label.UNBOUND) {
      throw new IllegalStateException("a label can be placed only once");
    }
    label.position = size;
  }

  /** A new label at this place, aligned as a loop likes to be. */
  public Label loop() {
    while (size % ALIGNED_LOOP != 0) {
      int rest = Math.min(9, ALIGNED_LOOP - size % ALIGNED_LOOP);
      nop(rest);
    }
    Label label = new Label();
    place(label);
    return label;
  }

  public void jmp(Label target) {
    one(0xE9);
    jump(target);
  }

  public void jump(Condition condition, Label target) {
    one(0x0F);
    one(0x80 + condition.code);
    jump(target);
  }

  private void jump(Label target) {
    jumps.add(new Jump(size, target));
    four(0);
  }

  /** The recommended instructions of one to nine bytes that do nothing. */
  private void nop(int bytes) {
    String[] forms = {
      "90",
      "6690",
      "0f1f00",
      "0f1f4000",
      "0f1f440000",
      "660f1f440000",
      "0f1f8000000000",
      "0f1f840000000000",
      "660f1f840000000000"
    };
    String form = forms[bytes - 1];
    for (int i = 0; i < form.length(); i += 2) {
      one(Integer.parseInt(form, i, i + 2, 16));
    }
  }

  /** Asks for a line of memory to be brought into the second-level cache. */
  public void prefetcht1(Mem place) {
    rex(false, 0, place);
    one(0x0F);
    one(0x18);
    memory(2, place, 1);
  }

  /** Asks for a line of memory that is about to be written. */
  public void prefetchw(Mem place) {
    rex(false, 0, place);
    one(0x0F);
    one(0x0D);
    memory(1, place, 1);
  }

  // ---- Masks.

  /** The next vector instruction leaves lanes that the mask does not select as they are. */
  public Assembler merge(Mask selected) {
    mask = selected.number();
    zeroing = false;
    return this;
  }

  /** The next vector instruction sets lanes that the mask does not select to zero. */
  public Assembler zero(Mask selected) {
    mask = selected.number();
    zeroing = true;
    return this;
  }

  /** The low 32 bits become a mask. */
  public void kmovd(Mask to, Gpr from) {
    vex(1, 3, false, 0, to.number(), 0, 0, from.number());
    one(0x92);
    registers(to.number(), from.number());
  }

  /** All 64 bits become a mask. */
  public void kmovq(Mask to, Gpr from) {
    vex(1, 3, true, 0, to.number(), 0, 0, from.number());
    one(0x92);
    registers(to.number(), from.number());
  }

  /** Compares signed 32-bit lanes: predicate 1 is less than, 6 greater than. */
  public void vpcmpd(Mask to, Vec a, Vec b, int predicate) {
    evex(3, 1, 0, Math.max(a.bytes(), b.bytes()), to.number(), a.number(), 0, b.number(), false);
    one(0x1F);
    registers(to.number(), b.number());
    one(predicate);
  }

  // ---- Between general and vector registers.

  /** Every lane becomes the low 32 bits. */
  public void vpbroadcastd(Vec to, Gpr from) {
    evex(2, 1, 0, to.bytes(), to.number(), 0, 0, from.number(), false);
    one(0x7C);
    registers(to.number(), from.number());
  }

  /** The lowest lane becomes the low 32 bits, all else zero. */
  public void vmovd(Vec to, Gpr from) {
    vex(1, 1, false, 0, to.number(), 0, 0, from.number());
    one(0x6E);
    registers(to.number(), from.number());
  }

  public void vzeroupper() {
    one(0xC5);
    one(0xF8);
    one(0x77);
  }

  // ---- Vector instructions.

  /** An instruction of two registers. */
  public void op(Op op, Vec to, Vec from) {
    require(op, op.form == Form.RM || op.form == Form.MR);
    if (op.form == Form.RM) {
      vector(op, to.number(), 0, from, Math.max(to.bytes(), from.bytes()));
    } else {
      vector(op, from.number(), 0, to, Math.max(to.bytes(), from.bytes()));
    }
  }

  /** An instruction of two registers and an immediate value. */
  public void op(Op op, Vec to, Vec from, int immediate) {
    require(op, op.form != Form.RVM);
    if (op.form == Form.VM) {
      vector(op, op.digit, to.number(), from, Math.max(to.bytes(), from.bytes()));
    } else {
      op(op, to, from);
    }
    one(immediate);
  }

  /** A load, broadcast or other instruction of a register and memory. */
  public void op(Op op, Vec to, Mem from) {
    require(op, op.form == Form.RM);
    vector(op, to.number(), 0, from, to.bytes(), false);
  }

  public void op(Op op, Vec to, Mem from, int immediate) {
    op(op, to, from);
    one(immediate);
  }

  /** A store. */
  public void op(Op op, Mem to, Vec from) {
    require(op, op.form == Form.MR);
    vector(op, from.number(), 0, to, from.bytes(), false);
  }

  public void op(Op op, Mem to, Vec from, int immediate) {
    op(op, to, from);
    one(immediate);
  }

  /** An instruction of three registers. */
  public void op(Op op, Vec to, Vec a, Vec b) {
    require(op, op.form == Form.RVM);
    int bytes = Math.max(to.bytes(), Math.max(a.bytes(), b.bytes()));
    vector(op, to.number(), a.number(), b, bytes);
  }

  public void op(Op op, Vec to, Vec a, Vec b, int immediate) {
    op(op, to, a, b);
    one(immediate);
  }

  /** An instruction of two registers and memory. */
  public void op(Op op, Vec to, Vec a, Mem b) {
    require(op, op.form == Form.RVM);
    vector(op, to.number(), a.number(), b, Math.max(to.bytes(), a.bytes()), false);
  }

  public void op(Op op, Vec to, Vec a, Mem b, int immediate) {
    op(op, to, a, b);
    one(immediate);
  }

  /** As with memory, but one value of it serves all lanes. */
  public void broadcast(Op op, Vec to, Vec a, Mem b) {
    require(op, op.form == Form.RVM && op.memory.broadcastBytes > 0);
    vector(op, to.number(), a.number(), b, to.bytes(), true);
  }

  private static void require(Op op, boolean fits) {
    if (!fits) {
      throw new IllegalArgumentException(op + " has other operands");
    }
  }

  private void vector(Op op, int reg, int second, Vec rm, int bytes) {
    if (shortForm(op, bytes, reg | second | rm.number(), false)) {
      vex(op.map, op.prefix, false, bytes, reg, second, 0, rm.number());
    } else {
      evex(op.map, op.prefix, op.wide, bytes, reg, second, 0, rm.number(), false);
    }
    one(op.opcode);
    registers(reg, rm.number());
  }

  private void vector(Op op, int reg, int second, Mem rm, int bytes, boolean broadcast) {
    int index = rm.index().map(Gpr::number).orElse(0);
    if (shortForm(op, bytes, reg | second, broadcast)) {
      vex(op.map, op.prefix, false, bytes, reg, second, index, rm.base().number());
      one(op.opcode);
      memory(reg, rm, 1);
      return;
    }
    // In memory forms the base takes one more bit where a vector register's number takes two.
    evex(op.map, op.prefix, op.wide, bytes, reg, second, index, rm.base().number(), broadcast);
    one(op.opcode);
    memory(reg, rm, broadcast ? op.memory.broadcastBytes : op.memory.bytes(bytes));
  }

  private boolean shortForm(Op op, int bytes, int numbers, boolean broadcast) {
    boolean fits = bytes <= 32 && numbers < 16 && !broadcast && mask == 0;
    if (op.encoding == Encoding.AVX && !fits) {
      throw new IllegalArgumentException(op + " takes registers 0 to 15 of at most 32 bytes");
    }
    return fits && op.encoding != Encoding.AVX512;
  }

  // ---- AMX.

  /** Configures this thread's tiles from 64 bytes. */
  public void ldtilecfg(Mem from) {
    amx(0, 0, from);
    one(0x49);
    memory(0, from, 1);
  }

  public void tilerelease() {
    vex(2, 0, false, 0, 0, 0, 0, 0);
    one(0x49);
    one(0xC0);
  }

  public void tilezero(Tile tile) {
    vex(2, 3, false, 0, tile.number(), 0, 0, 0);
    one(0x49);
    registers(tile.number(), 0);
  }

  /** Loads a tile's rows; the index register holds the bytes from one to the next. */
  public void tileloadd(Tile to, Mem from) {
    require(from);
    amx(3, to.number(), from);
    one(0x4B);
    memory(to.number(), from, 1);
  }

  /** Stores a tile's rows; the index register holds the bytes from one to the next. */
  public void tilestored(Mem to, Tile from) {
    require(to);
    amx(2, from.number(), to);
    one(0x4B);
    memory(from.number(), to, 1);
  }

  /** {@code to += a · b} of bf16 pairs. */
  public void tdpbf16ps(Tile to, Tile a, Tile b) {
    product(2, 0x5C, to, a, b);
  }

  /** {@code to += a · b} of unsigned bytes of a and signed ones of b. */
  public void tdpbusd(Tile to, Tile a, Tile b) {
    product(1, 0x5E, to, a, b);
  }

  private void product(int prefix, int opcode, Tile to, Tile a, Tile b) {
    if (to == a || to == b || a == b) {
      throw new IllegalArgumentException("the tiles of a product must be distinct");
    }
    vex(2, prefix, false, 0, to.number(), b.number(), 0, a.number());
    one(opcode);
    registers(to.number(), a.number());
  }

  private void amx(int prefix, int reg, Mem place) {
    vex(
        2,
        prefix,
        false,
        0,
        reg,
        0,
        place.index().map(Gpr::number).orElse(0),
        place.base().number());
  }

  private static void require(Mem place) {
    if (place.index().isEmpty()) {
      throw new IllegalArgumentException("a tile's rows need an index register for their distance");
    }
  }

  // ---- Encodings.

  private void general(int opcode, int reg, Gpr rm) {
    rexFor(true, reg, 0, rm.number());
    one(opcode);
    registers(reg, rm.number());
  }

  private void general(int opcode, int reg, Mem rm, boolean wide) {
    rex(wide, reg, rm);
    one(opcode);
    memory(reg, rm, 1);
  }

  private void immediate(int digit, Gpr to, int value) {
    rexFor(true, 0, 0, to.number());
    if (value == (byte) value) {
      one(0x83);
      registers(digit, to.number());
      one(value);
    } else {
      one(0x81);
      registers(digit, to.number());
      four(value);
    }
  }

  private void shift(int digit, Gpr to, int count) {
    rexFor(true, 0, 0, to.number());
    one(0xC1);
    registers(digit, to.number());
    one(count);
  }

  private void rex(boolean wide, int reg, Mem rm) {
    rexFor(wide, reg, rm.index().map(Gpr::number).orElse(0), rm.base().number());
  }

  private void rexFor(boolean wide, int reg, int index, int base) {
    int bits = (wide ? 8 : 0) | (reg >> 3) << 2 | (index >> 3) << 1 | base >> 3;
    if (bits != 0) {
      one(0x40 | bits);
    }
  }

  /** The prefix of two or three bytes; {@code prefix} 0 to 3 stands for none, 66, F3 and F2. */
  private void vex(
      int map, int prefix, boolean wide, int bytes, int reg, int second, int index, int base) {
    int last = (~second & 15) << 3 | (bytes == 32 ? 4 : 0) | prefix;
    if (map == 1 && !wide && index < 8 && base < 8) {
      one(0xC5);
      one((~reg >> 3 & 1) << 7 | last);
    } else {
      one(0xC4);
      one((~reg >> 3 & 1) << 7 | (~index >> 3 & 1) << 6 | (~base >> 3 & 1) << 5 | map);
      one((wide ? 0x80 : 0) | last);
    }
  }

  /** The prefix of four bytes. The fifth bit of a register in {@code base} takes index's place. */
  private void evex(
      int map,
      int prefix,
      int wide,
      int bytes,
      int reg,
      int second,
      int index,
      int base,
      boolean broadcast) {
    if (shortFormsOnly) {
      throw new IllegalArgumentException("AVX2 has no such form of an instruction");
    }
    int x = base > 15 ? base >> 4 : index >> 3;
    one(0x62);
    one((~reg >> 3 & 1) << 7 | (~x & 1) << 6 | (~base >> 3 & 1) << 5 | (~reg >> 4 & 1) << 4 | map);
    one(wide << 7 | (~second & 15) << 3 | 4 | prefix);
    int length = bytes == 64 ? 2 : bytes == 32 ? 1 : 0;
    one(
        (zeroing ? 0x80 : 0)
            | length << 5
            | (broadcast ? 0x10 : 0)
            | (~second >> 4 & 1) << 3
            | mask);
    mask = 0;
    zeroing = false;
  }

  private void registers(int reg, int rm) {
    one(0xC0 | (reg & 7) << 3 | (rm & 7));
  }

  /** A place's bytes; short displacements count in units of so many bytes. */
  private void memory(int reg, Mem place, int unit) {
    int base = place.base().number();
    int displacement = place.displacement();
    Optional<Gpr> index = place.index();
    boolean needsDisplacement = (base & 7) == 5;
    int mod;
    if (displacement == 0 && !needsDisplacement) {
      mod = 0;
    } else if (displacement % unit == 0 && displacement / unit == (byte) (displacement / unit)) {
      mod = 1;
    } else {
      mod = 2;
    }
    if (index.isPresent() || (base & 7) == 4) {
      one(mod << 6 | (reg & 7) << 3 | 4);
      int scale = Integer.numberOfTrailingZeros(place.scale());
      one(scale << 6 | (index.map(Gpr::number).orElse(4) & 7) << 3 | (base & 7));
    } else {
      one(mod << 6 | (reg & 7) << 3 | (base & 7));
    }
    if (mod == 1) {
      one(displacement / unit);
    } else if (mod == 2) {
      four(displacement);
    }
  }

  private void one(int value) {
    if (size == code.length) {
      code = Arrays.copyOf(code, 2 * size);
    }
    code[size++] = (byte) value;
  }

  private void four(int value) {
    for (int i = 0; i < 4; i++) {
      one(value >> (8 * i));
    }
  }
}
