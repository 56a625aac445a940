package io.steelyard.models.sampling;

/**
 * What a token's logit loses by having been seen among the last tokens of prompt and answer. A
 * token seen {@code count} times there, with logit x, gets
 *
 * <pre>
 *   (x &gt; 0 ? x / repeat : x · repeat) − count · frequency − presence
 * </pre>
 *
 * <p>The first is the repetition penalty of Keskar et al., "CTRL" (2019), with the multiplication
 * of negative logits that all implementations have since added, so that a penalty never favours;
 * the other two are those of OpenAI's API. Negative ones and a repetition penalty under 1 favour
 * what was seen.
 *
 * @param repeat the repetition penalty, above 0; 1 is none
 * @param last how many tokens back a token counts as seen; 0 sees none, {@link #ALL} sees all
 * @param frequency subtracted for each time a token was seen; 0 is none
 * @param presence subtracted once; 0 is none
 */
public record Penalties(float repeat, int last, float frequency, float presence) {
  /** The whole text counts as seen. */
  public static final int ALL = -1;

  /** The longest window that is not the whole text. */
  public static final int MOST_LAST = 1 << 20;

  public static final Penalties NONE = new Penalties(1, 0, 0, 0);

  public Penalties {
    if (!(repeat > 0) || Float.isInfinite(repeat)) {
      throw new IllegalArgumentException(
          "repeat-penalty " + repeat + " is not above 0; 1 is no penalty, 1.1 a usual one");
    }
    if (last < ALL || last > MOST_LAST) {
      throw new IllegalArgumentException(
          "repeat-last %d is not from 0 to %d tokens; -1 is the whole text"
              .formatted(last, MOST_LAST));
    }
    requireFinite("frequency-penalty", frequency);
    requireFinite("presence-penalty", presence);
  }

  private static void requireFinite(String name, float penalty) {
    if (!Float.isFinite(penalty)) {
      throw new IllegalArgumentException(
          name + " " + penalty + " is no finite number; 0 is no penalty, -2 to 2 are usual");
    }
  }

  /** Whether no logit is changed. */
  public boolean none() {
    return last == 0 || (repeat == 1 && frequency == 0 && presence == 0);
  }

  /**
   * The logit of a token that was seen.
   *
   * @param count how often, at least once
   */
  float penalised(float logit, int count) {
    float repeated = logit > 0 ? logit / repeat : logit * repeat;
    return repeated - count * frequency - presence;
  }
}
