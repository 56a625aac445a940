package io.steelyard.models;

/** Text out of a file that nobody vouches for. */
public final class ForeignText {
  private static final int LONGEST = 64;

  private ForeignText() {}

  /** A name cut and cleaned for a message. */
  public static String printable(String text) {
    String cut = text.length() > LONGEST ? text.substring(0, LONGEST) + "…" : text;
    return cut.replaceAll("\\p{Cntrl}", "?");
  }

  /** Bytes that ought to be ASCII, with a question mark for each that isn't. */
  public static String printable(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (byte b : bytes) {
      text.append(b >= ' ' && b < 127 ? (char) b : '?');
    }
    return text.toString();
  }
}
