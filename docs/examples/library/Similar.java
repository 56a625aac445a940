import io.steelyard.models.Model;
import io.steelyard.models.Session;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/** How alike two texts are to a model: the cosine between its embeddings of them. */
public class Similar {
  public static void main(String[] arguments) {
    try (Model model = Model.load(Path.of(arguments[0]));
        Session session = model.newSession(512)) {
      float[] one = embed(model, session, arguments[1]);
      float[] other = embed(model, session, arguments[2]);
      double cosine = dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other));
      System.out.printf("%.4f%n", cosine);
    }
  }

  private static float[] embed(Model model, Session session, String text) {
    int[] ids = model.tokenizer().encode(text, true);
    session.truncate(0);
    return session.embed(ids, 0, ids.length).toArray(ValueLayout.JAVA_FLOAT);
  }

  private static double dot(float[] a, float[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += (double) a[i] * b[i];
    }
    return sum;
  }
}
