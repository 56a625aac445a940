import io.steelyard.models.Batch;
import io.steelyard.models.Model;
import io.steelyard.models.sampling.Sampling;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Goes on with several texts together: {@code Together.java MODEL TEXT...}. */
public class Together {
  private static final int TOKENS = 32;

  public static void main(String[] arguments) {
    List<String> prompts = Arrays.asList(arguments).subList(1, arguments.length);
    List<StringBuilder> texts = prompts.stream().map(StringBuilder::new).toList();
    // Four at a time: the next begins when one is done. 512 positions for each.
    try (Model model = Model.load(Path.of(arguments[0]));
        Batch batch = model.newBatch(4, 512)) {
      for (int i = 0; i < prompts.size(); i++) {
        batch.submit(prompts.get(i), TOKENS, Sampling.GREEDY, texts.get(i)::append);
      }
      batch.run();
    }
    texts.forEach(System.out::println);
  }
}
