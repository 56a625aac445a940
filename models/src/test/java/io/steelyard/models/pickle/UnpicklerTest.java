package io.steelyard.models.pickle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.steelyard.models.ModelException;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pickles that are programs, bombs or rubbish. In their spelling, {@code \xHH} is a byte. */
class UnpicklerTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static byte[] pickle(String spelled) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = 0; i < spelled.length(); i++) {
      if (spelled.startsWith("\\x", i)) {
        bytes.write(Integer.parseInt(spelled.substring(i + 2, i + 4), 16));
        i += 3;
      } else if (spelled.startsWith("\\n", i)) {
        bytes.write('\n');
        i++;
      } else {
        bytes.writeBytes(spelled.substring(i, i + 1).getBytes(StandardCharsets.UTF_8));
      }
    }
    return bytes.toByteArray();
  }

  private static Value read(String spelled) {
    return Unpickler.read("hostile.bin, data.pkl", pickle(spelled));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          \\x80\\x02cos\\nsystem\\nX\\x02\\x00\\x00\\x00ls\\x85R. | refuses os.system at byte 2
          \\x80\\x02cbuiltins\\neval\\nX\\x03\\x00\\x00\\x001+1\\x85R. | refuses builtins.eval at byte 2
          \\x80\\x04\\x8c\\x05posix\\x8c\\x06system\\x93. | refuses posix.system at byte 17
          \\x80\\x02}q\\x00ctorch\\nload\\n)R. | refuses torch.load at byte 5
          ctorch._utils\\n_rebuild_tensor_v2.__globals__\\n. | refuses torch._utils._rebuild_tensor_v2.__globals__ at
          ccollections\\nOrderedDict\\n)\\x81. | refuses NEWOBJ at byte 26
          (icollections\\nOrderedDict\\n. | refuses INST at byte 1
          (ccollections\\nOrderedDict\\no. | refuses OBJ at
          \\x82\\x01. | refuses EXT1 at byte 0
          B\\xff\\xff\\xff\\x7f. | refuses BINBYTES at byte 0
          \\x8e\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x7f. | refuses BINBYTES8 at byte 0
          \\x96\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x7f. | refuses BYTEARRAY8 at byte 0
          \\x8b\\xff\\xff\\xff\\x7f. | refuses LONG4 at byte 0
          Pos.system\\n. | refuses PERSID at byte 0
          \\xfe. | refuses the unknown instruction 0xfe at byte 0
          ctorch\\nFloatStorage\\n)R. | refuses a call of torch.FloatStorage at byte 21
          """)
  void whatATensorDoesNotNeedIsRefusedByName(String spelled, String said) {
    assertThatThrownBy(() -> read(spelled))
        .isInstanceOf(ModelException.class)
        .hasMessageStartingWith("hostile.bin, data.pkl: refuses ")
        .hasMessageContaining(said)
        .hasMessageContaining("none of it was run");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          X\\xff\\xff\\xff\\xffabc. | byte 0 needs 4294967295 more bytes, where 4 are left
          X\\xff\\xff\\xff\\x7fabc. | byte 0 needs 2147483647 more bytes
          \\x8c\\x09abc. | byte 0 needs 9 more bytes
          \\x8a\\xff. | the number at byte 0 has 255 bytes
          J\\x00\\x00 | byte 0 needs 4 more bytes
          \\x80\\x09. | pickle protocol 9
          cos | the name at byte 0 has no end
          }(K\\x01 | byte 4 needs 1 more bytes
          . | byte 0 needs a value that isn't there
          N( | byte 2 needs 1 more bytes
          N(. | byte 2 needs a value that isn't there
          NN. | values left over
          N\\x86. | byte 1 needs 2 values
          t. | byte 0 needs a mark
          Nh\\x07. | byte 1 asks for value 7, which was never kept
          NK\\x01a. | byte 3 needs a list and has something else
          NK\\x01K\\x02s. | byte 5 needs a dictionary and has something else
          }(K\\x01u. | a key without a value
          }]Ns. | needs a key that is a text
          NQ. | needs a reference to a storage
          (NNNNNtQ. | byte 7 needs a text
          (X\\x01\\x00\\x00\\x00aNNNNtQ. | is none to a storage
          NNR. | is none of a name with arguments
          ctorch._utils\\n_rebuild_tensor_v2\\n)R. | lacks its storage, offset, sizes or strides
          ctorch._utils\\n_rebuild_tensor_v2\\n(NNNNtR. | needs a storage
          ctorch._utils\\n_rebuild_parameter\\n)R. | has no tensor
          ccollections\\nOrderedDict\\nN\\x85R. | has arguments
          """)
  void whatIsNoPickleOfTensorsSaysWhere(String spelled, String said) {
    assertThatThrownBy(() -> read(spelled))
        .isInstanceOf(ModelException.class)
        .hasMessageStartingWith("hostile.bin, data.pkl is damaged or no pickle of tensors: ")
        .hasMessageContaining(said);
  }

  @Test
  void deepNestingTakesNoStack() {
    assertThat(read("]" + "\\x85".repeat(300_000) + ".")).isInstanceOf(Value.Tuple.class);
    assertThatThrownBy(() -> read("(".repeat(300_000))).isInstanceOf(ModelException.class);
  }

  /** Ten references to ten references, and so on: 10^60 elements if anybody followed them. */
  @Test
  void aBillionLaughsCostNothing() {
    StringBuilder laughs = new StringBuilder("X\\x03\\x00\\x00\\x00lolq\\x00");
    for (int level = 0; level < 60; level++) {
      laughs.append("0(");
      laughs.append("h\\x%02x".formatted(level).repeat(10));
      laughs.append("tq\\x%02x".formatted(level + 1));
    }
    long before = THREADS.getCurrentThreadAllocatedBytes();
    assertThat(read(laughs + ".")).isInstanceOf(Value.Tuple.class);
    assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isLessThan(4 << 20);
  }

  @Test
  void aListThatHoldsItselfIsOnlyAList() {
    assertThat(read("]q\\x00h\\x00a.")).isInstanceOf(Value.Listing.class);
  }

  @Test
  void aProgramOfMillionsOfStepsIsCutOff() {
    byte[] bytes = new byte[8 << 20];
    java.util.Arrays.fill(bytes, (byte) ']');
    long before = THREADS.getCurrentThreadAllocatedBytes();
    assertThatThrownBy(() -> Unpickler.read("hostile.bin, data.pkl", bytes))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("more than 1048576 instructions");
    assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isLessThan(16L * bytes.length);
  }

  @Test
  void numbersOfEveryWidthAreRead() {
    assertThat(read("\\x8a\\x02\\x00\\xff.")).isEqualTo(new Value.Whole(-256));
    assertThat(read("\\x8a\\x05\\xff\\xff\\xff\\xff\\x00."))
        .isEqualTo(new Value.Whole(0xFFFFFFFFL));
    assertThat(read("\\x8a\\x00.")).isEqualTo(new Value.Whole(0));
    assertThat(read("M\\xff\\xff.")).isEqualTo(new Value.Whole(65_535));
    assertThat(read("J\\xfe\\xff\\xff\\xff.")).isEqualTo(new Value.Whole(-2));
  }
}
