package io.steelyard.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The store in a PostgreSQL database, with a real server. */
class PostgresqlStoreTest extends StoreContract {
  private static PostgresqlServer server;
  private static int stores;

  private String url;

  @AfterAll
  static void stopServer() {
    if (server != null) {
      server.close();
    }
  }

  @BeforeEach
  @Override
  void openStore() throws Exception {
    // Not before all of them: a skip there is told of none.
    if (server == null) {
      server = PostgresqlServer.start();
    }
    url = server.url("test" + ++stores);
    super.openStore();
  }

  @Override
  HistoryStore open() {
    return HistoryStore.open(url);
  }

  @Override
  HistoryStore openFresh() {
    return HistoryStore.open(server.url("fresh" + stores));
  }

  @Override
  void execute(String sql) throws Exception {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Test
  void itsTablesAreInASchemaOfTheirOwn() {
    try (HistoryStore usual = HistoryStore.open(url.replaceFirst("&currentSchema=.*", ""))) {
      usual.add(SampleRuns.run("one", SampleRuns.NOON, 100));
    }
    try (HistoryStore named = HistoryStore.open(server.url("steelyard"))) {
      assertThat(named.list(RunFilter.all())).hasSize(1);
    }
    assertThat(store.list(RunFilter.all())).isEmpty();
  }

  @Test
  void aDatabaseThatIsNotThereIsToBeMade() {
    assertThatThrownBy(() -> HistoryStore.open(url.replace("/postgres?", "/nowhere?")))
        .isInstanceOf(HistoryException.class)
        .hasMessageContaining("createdb");
  }

  @Test
  void whoMayOnlyReadIsToldSo() throws Exception {
    store.add(SampleRuns.run("one", SampleRuns.NOON, 100));
    String schema = "test" + stores;
    execute("CREATE ROLE reader" + stores + " LOGIN");
    execute("GRANT USAGE ON SCHEMA " + schema + " TO reader" + stores);
    execute("GRANT SELECT ON ALL TABLES IN SCHEMA " + schema + " TO reader" + stores);

    try (HistoryStore reader =
        HistoryStore.open(url.replace("user=steelyard", "user=reader" + stores))) {
      assertThat(reader.list(RunFilter.all())).hasSize(1);
      assertThatThrownBy(() -> reader.add(SampleRuns.run("two", SampleRuns.NOON, 100)))
          .isInstanceOf(HistoryException.class)
          .hasMessageContaining("may only be read");
    }
  }
}
