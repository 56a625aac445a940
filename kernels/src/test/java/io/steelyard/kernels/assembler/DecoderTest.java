package io.steelyard.kernels.assembler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.assembler.Instruction.Vector;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the assembler writes, read again. */
final class DecoderTest {
  /** The emulator has no business with them. */
  private static final Set<String> NOT_READ = Set.of("cpuid", "xgetbv");

  @Test
  void everyInstructionIsReadToItsEnd() {
    for (Map.Entry<String, String> each : Encodings.all().entrySet()) {
      if (NOT_READ.contains(each.getKey())) {
        continue;
      }
      byte[] code = HexFormat.of().parseHex(each.getValue());
      assertThat(Decoder.decode(MemorySegment.ofArray(code), 0).next())
          .as("%s", each)
          .isEqualTo(code.length);
    }
  }

  @Test
  void operandsComeBack() {
    Assembler a = new Assembler();
    Mem place = Mem.at(Gpr.R13, Gpr.R9, 4, -128);
    a.zero(Mask.K5).op(Op.VPSHUFB, Vec.zmm(29), Vec.zmm(18), Vec.zmm(27));
    a.broadcast(Op.VFMADD231PS, Vec.zmm(17), Vec.zmm(3), place);
    a.merge(Mask.K2).op(Op.VPMOVDB, place, Vec.zmm(20));
    MemorySegment code = MemorySegment.ofArray(a.code());

    Vector first = (Vector) Decoder.decode(code, 0);
    Vector second = (Vector) Decoder.decode(code, first.next());
    Vector third = (Vector) Decoder.decode(code, second.next());

    assertThat(first)
        .returns(Op.VPSHUFB, Vector::op)
        .returns(29, Vector::to)
        .returns(18, Vector::a)
        .returns(27, Vector::b)
        .returns(5, Vector::mask)
        .returns(true, Vector::zeroing);
    assertThat(second)
        .returns(Op.VFMADD231PS, Vector::op)
        .returns(17, Vector::to)
        .returns(3, Vector::a)
        .returns(true, Vector::broadcast)
        .returns(4, Vector::memoryBytes);
    assertThat(second.place()).contains(new Instruction.Place(13, 9, 4, -128));
    assertThat(third)
        .returns(Op.VPMOVDB, Vector::op)
        .returns(20, Vector::b)
        .returns(true, Vector::store)
        .returns(16, Vector::memoryBytes)
        .returns(2, Vector::mask)
        .returns(false, Vector::zeroing);
    assertThat(third.place()).contains(new Instruction.Place(13, 9, 4, -128));
  }

  @Test
  void otherInstructionsAreRefusedByTheirBytes() {
    MemorySegment code = MemorySegment.ofArray(new byte[] {0x0F, 0x0B, 0, 0});
    assertThatThrownBy(() -> Decoder.decode(code, 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("no instruction of the assembler's: 0f 0b 00 00 at 0x0");
  }
}
