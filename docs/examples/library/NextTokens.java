import io.steelyard.models.Model;
import io.steelyard.models.Session;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.IntStream;

/** The five tokens that most likely follow a text, with their logits. */
public class NextTokens {
  public static void main(String[] arguments) {
    try (Model model = Model.load(Path.of(arguments[0]));
        Session session = model.newSession(512)) {
      int[] ids = model.tokenizer().encode(arguments[1], true);
      MemorySegment logits = session.forward(ids, 0, ids.length);
      IntStream.range(0, session.vocabulary())
          .boxed()
          .sorted(Comparator.comparing(id -> -logits.getAtIndex(ValueLayout.JAVA_FLOAT, id)))
          .limit(5)
          .forEach(
              id ->
                  System.out.printf(
                      "%8.3f %s%n",
                      logits.getAtIndex(ValueLayout.JAVA_FLOAT, id), model.tokenizer().piece(id)));
    }
  }
}
