package io.steelyard.history;

import io.steelyard.lab.record.Summary;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A cell's figures as the columns of its table and of an export, in one order. */
final class CellColumns {
  /**
   * A figure.
   *
   * @param column its column in the table {@code cells}
   * @param field its name in an export
   */
  private record Column(String column, String field, Function<Summary.Cell, Object> value) {
    static Column of(String name, Function<Summary.Cell, Object> value) {
      return new Column(name, name, value);
    }
  }

  private static final List<Column> ALL =
      List.of(
          Column.of("label", Summary.Cell::label),
          Column.of("engine", Summary.Cell::engine),
          Column.of("model", Summary.Cell::model),
          Column.of("precision", Summary.Cell::precision),
          Column.of("metric", Summary.Cell::metric),
          Column.of("unit", Summary.Cell::unit),
          Column.of("better", Summary.Cell::better),
          Column.of("mean", Summary.Cell::mean),
          Column.of("median", Summary.Cell::median),
          Column.of("sd", Summary.Cell::sd),
          // MIN and MAX are functions of SQL.
          new Column("smallest", "min", Summary.Cell::min),
          new Column("largest", "max", Summary.Cell::max),
          Column.of("low", Summary.Cell::low),
          Column.of("high", Summary.Cell::high),
          Column.of("forks", Summary.Cell::forks),
          Column.of("trials", Summary.Cell::trials),
          Column.of("state", Summary.Cell::state),
          Column.of("disturbed", Summary.Cell::disturbed),
          Column.of("roofline", Summary.Cell::roofline));

  /** The columns, for a statement. */
  static final String NAMES = ALL.stream().map(Column::column).collect(Collectors.joining(", "));

  private CellColumns() {}

  /** The fields of an export. */
  static List<String> fields() {
    return ALL.stream().map(Column::field).toList();
  }

  /** The figures, null what there isn't. */
  static List<Object> values(Summary.Cell figures) {
    return ALL.stream().map(column -> column.value.apply(figures)).toList();
  }
}
