package io.steelyard.stats;

import io.steelyard.stats.SeriesChangesStudy.History;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How many steps could be found within {@value SeriesChangesStudy#NEAR} runs by who is told what no
 * method is told: what there is to be lost by not knowing, and what nobody could find.
 */
final class StepOracle {
  private static final int NEAR = SeriesChangesStudy.NEAR;

  private final double[] sums;
  private final int apart;

  /** Of a history without spikes whose steps, and ends, are at least so many runs apart. */
  private StepOracle(History history, int apart) {
    double[] values = history.values();
    sums = new double[values.length + 1];
    for (int i = 0; i < values.length; i++) {
      sums[i + 1] = sums[i] + Math.log(values[i] / 100) / SeriesChangesStudy.NOISE;
    }
    this.apart = apart;
  }

  private int length() {
    return sums.length - 1;
  }

  /** Found by least squares that are told the number of steps and how far apart they are. */
  static int byLeastSquares(History history, int apart) {
    return hits(history, new StepOracle(history, apart).leastSquares(history.steps().size()));
  }

  /**
   * Found by who is told the number of steps, how far apart they are, their size and the noise, and
   * names the places that most likely have one near: no method finds more on average.
   */
  static int byAllThatIsKnown(History history, int apart, double size) {
    int count = history.steps().size();
    StepOracle oracle = new StepOracle(history, apart);
    return hits(history, oracle.mostLikely(oracle.posterior(count, size), count));
  }

  private static int hits(History history, List<Integer> places) {
    return (int)
        history.steps().stream()
            .filter(step -> places.stream().anyMatch(place -> Math.abs(place - step) <= NEAR))
            .count();
  }

  private List<Integer> leastSquares(int count) {
    int n = length();
    // Of a segment, s²/n is what its mean saves.
    double[][] saved = new double[count + 1][n + 1];
    int[][] cuts = new int[count + 1][n + 1];
    for (double[] row : saved) {
      Arrays.fill(row, Double.NEGATIVE_INFINITY);
    }
    for (int end = apart; end <= n; end++) {
      saved[0][end] = sums[end] * sums[end] / end;
      for (int cut = apart; cut <= end - apart; cut++) {
        double sum = sums[end] - sums[cut];
        for (int k = 1; k <= count; k++) {
          double total = saved[k - 1][cut] + sum * sum / (end - cut);
          if (total > saved[k][end]) {
            saved[k][end] = total;
            cuts[k][end] = cut;
          }
        }
      }
    }
    List<Integer> places = new ArrayList<>();
    for (int k = count, end = n; k > 0; k--) {
      end = cuts[k][end];
      places.add(end);
    }
    return places;
  }

  /** For each run, the chance of a step there, up to a factor. */
  private double[] posterior(int count, double size) {
    double[] largest = {Double.NEGATIVE_INFINITY};
    visit(
        new int[count],
        new double[count],
        0,
        size,
        (likelihood, _) -> largest[0] = Math.max(largest[0], likelihood));
    double[] chances = new double[length()];
    visit(
        new int[count],
        new double[count],
        0,
        size,
        (likelihood, places) -> {
          for (int place : places) {
            chances[place] += Math.exp(likelihood - largest[0]);
          }
        });
    return chances;
  }

  /** Sees a way in which the steps could lie. */
  private interface Visitor {
    void see(double logLikelihood, int[] places);
  }

  private void visit(int[] places, double[] levels, int next, double size, Visitor visitor) {
    if (next == places.length) {
      visitor.see(logLikelihood(places, levels), places);
      return;
    }
    int first = (next == 0 ? 0 : places[next - 1]) + apart;
    for (int at = first; at <= length() - apart * (places.length - next); at++) {
      for (int sign = -1; sign <= 1; sign += 2) {
        places[next] = at;
        levels[next] = (next == 0 ? 0 : levels[next - 1]) + sign * size;
        visit(places, levels, next + 1, size, visitor);
      }
    }
  }

  /** Of the levels after each step, against none, with any level before the first. */
  private double logLikelihood(int[] places, double[] levels) {
    int n = length();
    double products = 0;
    double total = 0;
    double squares = 0;
    for (int k = 0; k < places.length; k++) {
      int end = k + 1 == places.length ? n : places[k + 1];
      products += levels[k] * (sums[end] - sums[places[k]]);
      total += levels[k] * (end - places[k]);
      squares += levels[k] * levels[k] * (end - places[k]);
    }
    return products - total * sums[n] / n - (squares - total * total / n) / 2;
  }

  private List<Integer> mostLikely(double[] chances, int count) {
    int n = length();
    double[] near = new double[n];
    for (int i = 0; i < n; i++) {
      for (int j = Math.max(0, i - NEAR); j <= Math.min(n - 1, i + NEAR); j++) {
        near[i] += chances[j];
      }
    }
    List<Integer> places = new ArrayList<>();
    while (places.size() < count) {
      int best = -1;
      for (int i = 0; i < n; i++) {
        int at = i;
        boolean free = places.stream().allMatch(place -> Math.abs(place - at) > 2 * NEAR);
        best = free && (best < 0 || near[i] > near[best]) ? i : best;
      }
      places.add(best);
    }
    return places;
  }
}
