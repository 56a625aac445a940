package io.steelyard.models.pickle;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import io.steelyard.models.pickle.Value.Dictionary;
import io.steelyard.models.pickle.Value.View;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The tensors of a file that {@code torch.save} wrote, where they lie in it. */
public final class TorchFile {
  private static final String PICKLE = "data.pkl";
  private static final int MOST_PICKLE_BYTES = 16 << 20;
  private static final int ZIP = 0x04034b50;
  private static final int TAR_MAGIC_AT = 257;

  private final String source;
  private final MemorySegment file;
  private final Map<String, MemorySegment> entries;
  private final String prefix;

  private TorchFile(String source, MemorySegment file) {
    this.source = source;
    this.file = file;
    requireZip();
    this.entries = Archive.read(source, file);
    this.prefix = prefix();
  }

  /**
   * The tensors of a file in the order of its dictionary.
   *
   * @param source what messages call the file
   * @param file all of it
   * @throws ModelException if it is damaged, of PyTorch's formats of before 1.6, or asks for
   *     anything but tensors
   */
  public static List<PickledTensor> read(String source, MemorySegment file) {
    return new TorchFile(source, file).tensors();
  }

  private void requireZip() {
    long size = file.byteSize();
    if (size >= 4 && file.get(ValueLayout.JAVA_INT_UNALIGNED, 0) == ZIP) {
      return;
    }
    String old = "";
    if (size >= 2 && (file.get(ValueLayout.JAVA_BYTE, 0) & 0xFF) == Opcodes.PROTO) {
      old = "a bare pickle";
    } else if (size >= TAR_MAGIC_AT + 5 && text(file.asSlice(TAR_MAGIC_AT, 5)).equals("ustar")) {
      old = "a tar archive";
    }
    throw new ModelException(
        old.isEmpty()
            ? "%s is no file of PyTorch's: it has %d bytes and is no ZIP archive; fetch it again"
                .formatted(source, size)
            : "%s is %s, PyTorch's format of before 1.6, which Steelyard doesn't read; save the model again as safetensors"
                .formatted(source, old));
  }

  /** The folder in the archive that everything lies in, whose name is the writer's choice. */
  private String prefix() {
    if (entries.keySet().stream().anyMatch(name -> name.endsWith("/constants.pkl"))) {
      throw new ModelException(
          "%s is a TorchScript program, which Steelyard doesn't run; take the model as .safetensors"
              .formatted(source));
    }
    List<String> pickles =
        entries.keySet().stream()
            .filter(name -> name.equals(PICKLE) || name.endsWith("/" + PICKLE))
            .toList();
    if (pickles.size() != 1) {
      throw corrupt(
          "it holds %d entries %s where PyTorch writes one".formatted(pickles.size(), PICKLE));
    }
    String prefix = pickles.getFirst().substring(0, pickles.getFirst().length() - PICKLE.length());
    MemorySegment order = entries.get(prefix + "byteorder");
    if (order != null && (order.byteSize() > 8 || !text(order).equals("little"))) {
      throw new ModelException(
          "%s has its bytes in the order '%s'; Steelyard reads little-endian files: save the model again as safetensors"
              .formatted(source, order.byteSize() > 8 ? "?" : printable(text(order))));
    }
    return prefix;
  }

  private List<PickledTensor> tensors() {
    MemorySegment pickle = entries.get(prefix + PICKLE);
    if (pickle.byteSize() > MOST_PICKLE_BYTES) {
      throw corrupt(
          "its %s has %d bytes; at most %d make sense"
              .formatted(PICKLE, pickle.byteSize(), MOST_PICKLE_BYTES));
    }
    Value content = Unpickler.read(source + ", " + PICKLE, pickle.toArray(ValueLayout.JAVA_BYTE));
    if (!(content instanceof Dictionary dictionary)) {
      throw corrupt("it holds no dictionary of tensors");
    }
    List<PickledTensor> tensors = new ArrayList<>();
    long bytes = 0;
    for (Map.Entry<String, Value> entry : dictionary.entries.entrySet()) {
      if (!(entry.getValue() instanceof View view)) {
        throw new ModelException(
            "%s: what it calls '%s' is no tensor; give the file with the model's weights alone"
                .formatted(source, printable(entry.getKey())));
      }
      PickledTensor tensor = tensor(entry.getKey(), view);
      // Tied weights share a storage; a model of any size that lies in a few bytes is none.
      bytes += tensor.data().byteSize();
      if (bytes / 2 > file.byteSize()) {
        throw corrupt("its tensors have more than twice its own bytes");
      }
      tensors.add(tensor);
    }
    return tensors;
  }

  private PickledTensor tensor(String name, View view) {
    int elementBytes = elementBytes(view.storage().type());
    MemorySegment storage = entries.get(prefix + "data/" + view.storage().key());
    if (storage == null) {
      throw corrupt(
          "tensor '%s' lies in 'data/%s', which isn't there"
              .formatted(printable(name), printable(view.storage().key())));
    }
    long stored = storage.byteSize() / elementBytes;
    if (view.storage().count() < 0 || view.storage().count() > stored) {
      throw corrupt(
          "the storage of tensor '%s' claims %d elements where it has %d"
              .formatted(printable(name), view.storage().count(), stored));
    }
    long count = elements(name, view);
    if (view.offset() < 0
        || view.offset() > view.storage().count()
        || count > view.storage().count() - view.offset()) {
      throw corrupt(
          "tensor '%s' needs %d elements from element %d of a storage of %d"
              .formatted(printable(name), count, view.offset(), view.storage().count()));
    }
    return new PickledTensor(
        name,
        view.storage().type(),
        view.shape(),
        storage.asSlice(view.offset() * elementBytes, count * elementBytes));
  }

  /** Number of elements; they must lie one after the other. */
  private long elements(String name, View view) {
    long[] shape = view.shape();
    if (view.strides().length != shape.length) {
      throw corrupt(
          "tensor '%s' has %d sizes and %d strides"
              .formatted(printable(name), shape.length, view.strides().length));
    }
    long count = 1;
    boolean inOrder = true;
    for (int d = shape.length - 1; d >= 0; d--) {
      long stride = view.strides()[d];
      if (shape[d] < 0 || stride < 0) {
        throw corrupt(
            "dimension %d of tensor '%s' has size %d and stride %d"
                .formatted(d, printable(name), shape[d], stride));
      }
      inOrder &= shape[d] == 1 || stride == count;
      try {
        count = Math.multiplyExact(count, shape[d]);
      } catch (ArithmeticException e) {
        throw corrupt("the shape of tensor '%s' is beyond any size".formatted(printable(name)));
      }
    }
    if (!inOrder && count > 0) {
      throw new ModelException(
          "%s: the elements of tensor '%s' don't lie in order (sizes %s, strides %s); save the model again as safetensors"
              .formatted(
                  source,
                  printable(name),
                  Arrays.toString(shape),
                  Arrays.toString(view.strides())));
    }
    return count;
  }

  private static int elementBytes(String type) {
    return switch (type) {
      case "F64", "I64" -> 8;
      case "F32", "I32" -> 4;
      case "F16", "BF16", "I16" -> 2;
      default -> 1;
    };
  }

  private static String text(MemorySegment bytes) {
    return new String(bytes.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
  }

  private ModelException corrupt(String what) {
    return new ModelException(
        "%s is damaged or incomplete: %s; fetch it again".formatted(source, what));
  }
}
