package io.steelyard.models.gguf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.models.ModelException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MetadataTest {

  @Test
  void readsIntegersOfEveryWidthAsLong() {
    try (GgufFile file =
        GgufBytes.header(3, 0, 8)
            .key("u8", ValueType.UINT8)
            .int8(255)
            .key("i8", ValueType.INT8)
            .int8(255)
            .key("u16", ValueType.UINT16)
            .int16(65535)
            .key("i16", ValueType.INT16)
            .int16(-2)
            .key("u32", ValueType.UINT32)
            .int32(-1)
            .key("i32", ValueType.INT32)
            .int32(-3)
            .key("u64", ValueType.UINT64)
            .int64(Long.MAX_VALUE)
            .key("i64", ValueType.INT64)
            .int64(Long.MIN_VALUE)
            .open()) {
      Metadata metadata = file.metadata();
      assertThat(metadata.integer("u8")).isEqualTo(255);
      assertThat(metadata.integer("i8")).isEqualTo(-1);
      assertThat(metadata.integer("u16")).isEqualTo(65535);
      assertThat(metadata.integer("i16")).isEqualTo(-2);
      assertThat(metadata.integer("u32")).isEqualTo(4294967295L);
      assertThat(metadata.integer("i32")).isEqualTo(-3);
      assertThat(metadata.integer("u64")).isEqualTo(Long.MAX_VALUE);
      assertThat(metadata.integer("i64")).isEqualTo(Long.MIN_VALUE);
      assertThat(metadata.type("u16")).isEqualTo(ValueType.UINT16);
    }
  }

  @Test
  void refusesAnIntegerBeyondLong() {
    try (GgufFile file = GgufBytes.header(3, 0, 1).key("big", ValueType.UINT64).int64(-1).open()) {
      assertThatThrownBy(() -> file.metadata().integer("big"))
          .isInstanceOf(ModelException.class)
          .hasMessageContaining("'big' is 18446744073709551615");
    }
  }

  @Test
  void fallsBackForMissingKeysAlone() {
    Metadata metadata = new Metadata("m.gguf", Map.of("text", "x"));

    assertThat(metadata.integer("none", 7)).isEqualTo(7);
    assertThat(metadata.real("none", 0.5)).isEqualTo(0.5);
    assertThat(metadata.flag("none", true)).isTrue();
    assertThat(metadata.string("none", "y")).isEqualTo("y");
    assertThatThrownBy(() -> metadata.integer("text", 7)).isInstanceOf(ModelException.class);
  }

  @Test
  void namesFileAndKeyOfWhatIsMissingOrMistyped() {
    Metadata metadata =
        new Metadata(
            "dir/m.gguf", Map.of("text", "x", "sizes", new int[] {1}, "words", List.of("a")));

    assertThatThrownBy(() -> metadata.string("none"))
        .hasMessage("dir/m.gguf: metadata key 'none' is missing");
    assertThatThrownBy(() -> metadata.integer("text"))
        .hasMessage("dir/m.gguf: metadata key 'text' is of type string where an integer is needed");
    assertThatThrownBy(() -> metadata.strings("sizes"))
        .hasMessage(
            "dir/m.gguf: metadata key 'sizes' is an array of int32 where an array of strings is needed");
    assertThatThrownBy(() -> metadata.ints("words")).hasMessageContaining("array of string");
    assertThatThrownBy(() -> metadata.floats("sizes")).hasMessageContaining("array of int32");
    assertThatThrownBy(() -> metadata.flag("text", true)).hasMessageContaining("a boolean");
    assertThatThrownBy(() -> metadata.integer("sizes")).hasMessageContaining("an integer");
  }

  @Test
  void convertsIntegersToReals() {
    assertThat(new Metadata("m", Map.of("theta", 10_000)).real("theta", 0)).isEqualTo(10_000);
  }

  @Test
  void refusesArrayElementsBeyondInt() {
    try (GgufFile file =
        GgufBytes.header(3, 0, 1)
            .key("sizes", ValueType.ARRAY)
            .int32(ValueType.UINT32.id())
            .int64(2)
            .int32(5)
            .int32(-1)
            .open()) {
      assertThatThrownBy(() -> file.metadata().ints("sizes"))
          .isInstanceOf(ModelException.class)
          .hasMessageContaining("element 1 of metadata key 'sizes' is 4294967295");
    }
  }

  @Test
  void readsAnEmptyArrayAsWhateverIsAsked() {
    Metadata metadata = new Metadata("m", Map.of("none", List.of()));

    assertThat(metadata.ints("none")).isEmpty();
    assertThat(metadata.floats("none")).isEmpty();
    assertThat(metadata.strings("none")).isEmpty();
    assertThat(metadata.length("none")).isZero();
  }

  @Test
  void refusesValuesThatGgufHasNoTypeFor() {
    Map<String, Object> values = Map.of("when", Instant.EPOCH);
    assertThatThrownBy(() -> new Metadata("m", values))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Instant");
  }
}
