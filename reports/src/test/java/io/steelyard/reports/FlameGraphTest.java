package io.steelyard.reports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.StringReader;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

final class FlameGraphTest {
  /** Where a box stands. */
  private record Place(double x, double y, double width) {}

  private static FlameGraph graph() {
    FlameGraph graph = new FlameGraph("pp512");
    graph.add(List.of("add", "576, 512 tokens"), 100_000_000);
    graph.add(List.of("matmul", "Q4_1 1536×576, 512 tokens"), 300_000_000);
    graph.add(List.of("matmul", "Q8_0 49152×576, 1 token"), 100_000_000);
    graph.add(List.of("matmul", "Q4_1 1536×576, 512 tokens"), 300_000_000);
    graph.add(List.of("outside operators"), 50_000_000);
    graph.add(List.of("outside operators", "Session.step"), 150_000_000);
    return graph;
  }

  private static Element parse(String svg) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(svg)))
        .getDocumentElement();
  }

  /** The boxes by tooltip, in the order drawn. */
  private static Map<String, Place> places(Element svg) {
    Map<String, Place> places = new LinkedHashMap<>();
    NodeList groups = svg.getElementsByTagName("g");
    for (int i = 0; i < groups.getLength(); i++) {
      Element group = (Element) groups.item(i);
      Element rect = (Element) group.getElementsByTagName("rect").item(0);
      places.put(
          group.getElementsByTagName("title").item(0).getTextContent(),
          new Place(number(rect, "x"), number(rect, "y"), number(rect, "width")));
    }
    return places;
  }

  private static double number(Element element, String attribute) {
    return Double.parseDouble(element.getAttribute(attribute));
  }

  @Test
  void timesOfTheSamePathAreSummedAndPartsAreCountedInTheirWhole() throws Exception {
    assertThat(graph().nanos()).isEqualTo(1_000_000_000);
    assertThat(places(parse(graph().svg("width is time"))).keySet())
        .containsExactly(
            "pp512: 1.0 s, 100.0 %",
            "matmul: 700 ms, 70.0 %",
            "Q4_1 1536×576, 512 tokens: 600 ms, 60.0 %",
            "Q8_0 49152×576, 1 token: 100 ms, 10.0 %",
            "outside operators: 200 ms, 20.0 %",
            "Session.step: 150 ms, 15.0 %",
            "add: 100 ms, 10.0 %",
            "576, 512 tokens: 100 ms, 10.0 %");
  }

  @Test
  void aBoxIsAsWideAsItsTimeAndStandsUnderItsWhole() throws Exception {
    Map<String, Place> places = places(parse(graph().svg("width is time")));
    Place root = places.get("pp512: 1.0 s, 100.0 %");
    Place matmul = places.get("matmul: 700 ms, 70.0 %");
    Place second = places.get("Q8_0 49152×576, 1 token: 100 ms, 10.0 %");
    Place outside = places.get("outside operators: 200 ms, 20.0 %");

    assertThat(matmul.width()).isCloseTo(0.7 * root.width(), within(0.01));
    assertThat(matmul.x()).isEqualTo(root.x());
    assertThat(matmul.y()).isGreaterThan(root.y());
    assertThat(second.y()).isGreaterThan(matmul.y());
    assertThat(second.x() + second.width()).isCloseTo(matmul.x() + matmul.width(), within(0.02));
    assertThat(outside.x()).isCloseTo(matmul.x() + matmul.width(), within(0.02));
  }

  @Test
  void namesAreShownWhereThereIsRoomAndBeginWhereThereIsLittle() throws Exception {
    FlameGraph graph = graph();
    graph.add(List.of("rope", "576, 512 tokens"), 20_000_000);
    graph.add(List.of("embed", "Q8_0, 512 tokens"), 1_000_000);
    NodeList texts = parse(graph.svg("width is time")).getElementsByTagName("text");
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < texts.getLength(); i++) {
      all.append(texts.item(i).getTextContent()).append('\n');
    }

    assertThat(all).contains("width is time", "Q4_1 1536×576, 512 tokens", "Q8_0 49152×576…");
    assertThat(all).doesNotContain("embed");
    assertThat(graph.svg("")).contains("<title>embed: 1.0 ms");
  }

  @Test
  void namesCannotBreakTheFile() throws Exception {
    FlameGraph graph = new FlameGraph("<a> & \"b\"");
    graph.add(List.of("Session.<init>", "lambda$0\u0001&amp;"), 1_000_000);

    Element svg = parse(graph.svg("</text>]]>"));

    assertThat(places(svg).keySet())
        .containsExactly(
            "<a> & \"b\": 1.0 ms, 100.0 %",
            "Session.<init>: 1.0 ms, 100.0 %", "lambda$0\uFFFD&amp;: 1.0 ms, 100.0 %");
  }

  @Test
  void nothingMeasuredIsAnEmptyPicture() throws Exception {
    assertThat(places(parse(new FlameGraph("tg64").svg("nothing")))).isEmpty();
  }

  @Test
  void timeCannotBeNegative() {
    FlameGraph graph = new FlameGraph("tg64");

    assertThatThrownBy(() -> graph.add(List.of("matmul"), -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("matmul");
  }
}
