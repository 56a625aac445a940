package io.steelyard.models.quantize;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Matrix;
import io.steelyard.kernels.Rows;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.Model;
import io.steelyard.models.ModelException;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.Session;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs a model on a text and sums the squares of what its matrices are multiplied with. The matrix
 * that gives logits is left out, as llama.cpp leaves it out: it may be the embeddings, too.
 */
public final class ImportanceCollector {
  private static final int WINDOW = 512;
  private static final Pattern EXPERT = Pattern.compile("(.*)\\[(\\d+)\\]");

  /** Sums of one matrix. */
  private static final class Sums {
    private final double[] squares;
    private long tokens;

    private Sums(int columns) {
      squares = new double[columns];
    }
  }

  private final Map<String, Sums> sums = new HashMap<>();

  private ImportanceCollector() {}

  /**
   * Collects over a text, in windows of 512 tokens.
   *
   * @param kernels run the model; what they round is in the result
   * @param name what messages and files call the text
   * @param listener hears how many tokens are done
   * @throws ModelException if the model can't be run, or the text has no tokens
   */
  public static Importance collect(
      Path model, Kernels kernels, String name, String text, ProgressListener listener) {
    ImportanceCollector collector = new ImportanceCollector();
    try (Model loaded = Model.load(model, collector.listening(kernels))) {
      int[] ids = loaded.tokenizer().encode(text, false);
      if (ids.length < 2) {
        throw new ModelException(
            "%s has %d tokens, too few for an importance matrix; give a longer text"
                .formatted(name, ids.length));
      }
      for (int from = 0; from < ids.length; from += WINDOW) {
        int to = Math.min(ids.length, from + WINDOW);
        try (Session session = loaded.newSession(WINDOW, DataType.F32)) {
          session.advance(ids, from, to);
        }
        listener.progress(to, ids.length);
      }
    }
    return new Importance(name, collector.means());
  }

  /** The same kernels, of which each product is looked at first. */
  private Kernels listening(Kernels kernels) {
    return (Kernels)
        Proxy.newProxyInstance(
            Kernels.class.getClassLoader(),
            new Class<?>[] {Kernels.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("matmul")) {
                add((Matrix) arguments[0], (Rows) arguments[1], (int) arguments[3]);
              }
              try {
                return method.invoke(kernels, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private void add(Matrix weights, Rows x, int tokens) {
    double[] squares = new double[weights.columns()];
    for (int token = 0; token < tokens; token++) {
      for (int i = 0; i < squares.length; i++) {
        squares[i] += (double) x.get(token, i) * x.get(token, i);
      }
    }
    for (Tensor part : weights.parts()) {
      if (part.name().startsWith("blk.")) {
        Sums of = sums.computeIfAbsent(part.name(), _ -> new Sums(squares.length));
        for (int i = 0; i < squares.length; i++) {
          of.squares[i] += squares[i];
        }
        of.tokens += tokens;
      }
    }
  }

  /** Of experts one after another; of one that no token chose nothing is known: all ones. */
  private Map<String, float[]> means() {
    Map<String, Integer> experts = new HashMap<>();
    sums.keySet().forEach(name -> experts.merge(tensor(name), 1 + expert(name), Math::max));
    Map<String, float[]> means = new TreeMap<>();
    sums.forEach(
        (name, each) -> {
          int columns = each.squares.length;
          float[] all =
              means.computeIfAbsent(
                  tensor(name), tensor -> new float[columns * experts.get(tensor)]);
          for (int i = 0; i < columns; i++) {
            all[expert(name) * columns + i] = (float) (each.squares[i] / each.tokens);
          }
        });
    return means;
  }

  private static String tensor(String part) {
    Matcher expert = EXPERT.matcher(part);
    return expert.matches() ? expert.group(1) : part;
  }

  private static int expert(String part) {
    Matcher expert = EXPERT.matcher(part);
    return expert.matches() ? Integer.parseInt(expert.group(2)) : 0;
  }
}
