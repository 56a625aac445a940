import io.steelyard.models.Model;
import io.steelyard.models.Session;
import io.steelyard.models.TextGenerator;
import io.steelyard.models.sampling.Sampling;
import java.nio.file.Path;

/** Goes on with a text, shown as it comes. */
public class Continue {
  public static void main(String[] arguments) {
    try (Model model = Model.load(Path.of(arguments[0]));
        Session session = model.newSession(512)) {
      TextGenerator generator = new TextGenerator(model, session, Sampling.GREEDY);
      generator.generate(arguments[1], 32, System.out::print);
      System.out.println();
    }
  }
}
