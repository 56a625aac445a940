package io.steelyard.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.history.HistoryStore.Outcome;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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

  private void execute(String sql) throws Exception {
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
  void manyMachinesMayMakeTheStoreAtOnce() throws Exception {
    String fresh = server.url("contended");
    int openers = 6;
    CyclicBarrier start = new CyclicBarrier(openers);
    try (ExecutorService threads = Executors.newFixedThreadPool(openers)) {
      List<Future<Outcome>> outcomes = new ArrayList<>();
      for (int i = 0; i < openers; i++) {
        String name = "run" + i;
        outcomes.add(
            threads.submit(
                () -> {
                  start.await();
                  try (HistoryStore own = HistoryStore.open(fresh)) {
                    return own.add(SampleRuns.run(name, SampleRuns.NOON, 100));
                  }
                }));
      }
      for (Future<Outcome> outcome : outcomes) {
        assertThat(outcome.get()).isEqualTo(Outcome.ADDED);
      }
    }
  }

  @Test
  void aStoreOfANewerVersionIsRefused() throws Exception {
    execute(
        "INSERT INTO flyway_schema_history (installed_rank, version, description, type, script,"
            + " installed_by, execution_time, success)"
            + " VALUES (99, '2', 'later', 'SQL', 'V.sql', '', 1, true)");

    assertThatThrownBy(this::open)
        .isInstanceOf(HistoryException.class)
        .hasMessageContaining("newer Steelyard")
        .hasMessageNotContaining("user=");
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
