import io.steelyard.lab.benchmark.Benchmark;
import io.steelyard.lab.benchmark.Benchmarks;
import java.util.List;
import java.util.stream.IntStream;

/** Ways to write words after each other. They must give the very same text. */
public final class Joins implements Benchmarks {
  @Override
  public List<Benchmark<?, ?>> benchmarks() {
    return List.of(
        Benchmark.of("join", "plus", Joins::plus)
            .variant("builder", Joins::builder)
            .variant("String.join", words -> String.join("", words))
            .workload("100 words", () -> words(100))
            .workload("1000 words", () -> words(1000)));
  }

  private static List<String> words(int count) {
    return IntStream.range(0, count).mapToObj(i -> "word" + i).toList();
  }

  static String plus(List<String> words) {
    String text = "";
    for (String word : words) {
      text += word;
    }
    return text;
  }

  static String builder(List<String> words) {
    StringBuilder text = new StringBuilder();
    words.forEach(text::append);
    return text.toString();
  }
}
