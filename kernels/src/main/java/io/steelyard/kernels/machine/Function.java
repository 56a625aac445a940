package io.steelyard.kernels.machine;

import io.steelyard.kernels.assembler.Assembler;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * A piece of machine code that can be called. Arguments arrive in RDI, RSI, RDX, RCX, R8 and R9;
 * RBX, RBP and R12 to R15 must be left as they were. Code stays mapped for the life of the process.
 *
 * <p>Tests have the one subclass, whose calls an emulator makes: it costs nothing where it is not
 * loaded.
 */
public class Function {
  private final MemorySegment address;

  private Function(MemorySegment address) {
    this.address = address;
  }

  /** The same code, for a subclass that calls it in another way. */
  Function(Function same) {
    this(same.address);
  }

  /**
   * Assembles a function.
   *
   * @param body writes everything but the last two instructions, {@code vzeroupper} and {@code ret}
   * @throws UnsupportedOperationException if this system or processor can't run machine code
   */
  public static Function of(Consumer<Assembler> body) {
    return of(new Assembler(), body);
  }

  /**
   * Assembles a function that every processor with AVX2 can run, or every one with AVX-VNNI where
   * it has an instruction of that.
   *
   * @param body writes everything but the last two instructions, {@code vzeroupper} and {@code ret}
   * @throws UnsupportedOperationException if this system or processor can't run machine code
   */
  public static Function avx2(Consumer<Assembler> body) {
    return of(Assembler.avx2(), body);
  }

  private static Function of(Assembler assembler, Consumer<Assembler> body) {
    body.accept(assembler);
    assembler.vzeroupper();
    return finish(assembler);
  }

  /** Without {@code vzeroupper}, for code that runs on any x86-64 processor. */
  static Function plain(Consumer<Assembler> body) {
    Assembler assembler = new Assembler();
    body.accept(assembler);
    return finish(assembler);
  }

  private static Function finish(Assembler assembler) {
    assembler.ret();
    return new Function(MemorySegment.ofAddress(ExecutableMemory.map(assembler.code())));
  }

  /** Where it begins, for machine code that calls it. */
  public final long address() {
    return address.address();
  }

  /** Calls it; the other calls are calls of this one. */
  public long call(long a, long b, long c, long d, long e, long f) {
    return NativeCalls.call(address, a, b, c, d, e, f);
  }

  public final long call(long a, long b, long c, long d) {
    return call(a, b, c, d, 0, 0);
  }

  public final long call(long a, long b, long c, long d, long e) {
    return call(a, b, c, d, e, 0);
  }
}
