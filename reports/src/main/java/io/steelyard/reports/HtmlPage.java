package io.steelyard.reports;

import java.io.StringWriter;
import java.util.List;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/**
 * A page of HTML that needs nothing but itself. All text is escaped, and every element is closed as
 * XML wants it, so that other programs can read the page, too.
 */
final class HtmlPage {
  private static final String STYLE =
      """
      body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222}
      table{border-collapse:collapse;margin:1rem 0}
      th,td{border-bottom:1px solid #ddd;padding:.25rem .75rem;text-align:left;vertical-align:top}
      .figure{text-align:right;font-variant-numeric:tabular-nums}
      img{max-width:100%}
      pre{background:#f6f6f6;padding:.75rem;overflow-x:auto;line-height:1.3}
      """;

  /** A table's cell. */
  record Cell(String text, String link, boolean figure) {
    static Cell of(String text) {
      return new Cell(text, "", false);
    }
  }

  private final StringWriter text = new StringWriter();
  private final XMLStreamWriter xml;

  /** Begins a page. */
  HtmlPage(String title) {
    try {
      text.write("<!DOCTYPE html>\n");
      xml = XMLOutputFactory.newInstance().createXMLStreamWriter(text);
      xml.writeStartElement("html");
      xml.writeAttribute("lang", "en");
      xml.writeStartElement("head");
      xml.writeEmptyElement("meta");
      xml.writeAttribute("charset", "utf-8");
      element("title", title);
      element("style", STYLE);
      xml.writeEndElement();
      xml.writeStartElement("body");
      element("h1", title);
    } catch (XMLStreamException e) {
      throw impossible(e);
    }
  }

  private void element(String name, String content) throws XMLStreamException {
    xml.writeStartElement(name);
    xml.writeCharacters(shown(content));
    xml.writeEndElement();
    xml.writeCharacters("\n");
  }

  /** XML knows no control characters but these. */
  private static String shown(String content) {
    return content.replaceAll("[\\p{Cntrl}&&[^\n\t]]", "?");
  }

  /** Adds an element that holds text: {@code h2}, {@code p}, {@code pre}. */
  HtmlPage add(String element, String content) {
    try {
      element(element, content);
      return this;
    } catch (XMLStreamException e) {
      throw impossible(e);
    }
  }

  /** Adds a list of sentences; nothing where there are none. */
  HtmlPage list(List<String> sentences) {
    try {
      if (!sentences.isEmpty()) {
        xml.writeStartElement("ul");
        for (String sentence : sentences) {
          element("li", sentence);
        }
        xml.writeEndElement();
      }
      return this;
    } catch (XMLStreamException e) {
      throw impossible(e);
    }
  }

  /** Adds a figure from a file beside the page. */
  HtmlPage figure(String file, String caption) {
    try {
      xml.writeStartElement("p");
      xml.writeEmptyElement("img");
      xml.writeAttribute("src", file);
      xml.writeAttribute("alt", caption);
      xml.writeEndElement();
      xml.writeCharacters("\n");
      return this;
    } catch (XMLStreamException e) {
      throw impossible(e);
    }
  }

  /** Adds a table. */
  HtmlPage table(List<Cell> headers, List<List<Cell>> rows) {
    try {
      xml.writeStartElement("table");
      row("th", headers);
      for (List<Cell> row : rows) {
        row("td", row);
      }
      xml.writeEndElement();
      return this;
    } catch (XMLStreamException e) {
      throw impossible(e);
    }
  }

  private void row(String element, List<Cell> cells) throws XMLStreamException {
    xml.writeStartElement("tr");
    for (Cell cell : cells) {
      xml.writeStartElement(element);
      if (cell.figure()) {
        xml.writeAttribute("class", "figure");
      }
      if (!cell.link().isEmpty()) {
        xml.writeStartElement("a");
        xml.writeAttribute("href", cell.link());
      }
      xml.writeCharacters(shown(cell.text()));
      if (!cell.link().isEmpty()) {
        xml.writeEndElement();
      }
      xml.writeEndElement();
    }
    xml.writeEndElement();
    xml.writeCharacters("\n");
  }

  /** Ends the page. */
  String end() {
    try {
      xml.writeEndDocument();
      xml.close();
      return text + "\n";
    } catch (XMLStreamException e) {
      throw impossible(e);
    }
  }

  private static IllegalStateException impossible(XMLStreamException e) {
    return new IllegalStateException("text that is written to memory can't fail", e);
  }
}
