package io.steelyard.engines.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Connections between ranks: strangers get nothing, and what is no message of the ring is said. */
final class LinkTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(200);
  private static final int RANK = 3;

  private final byte[] token = new byte[Port.TOKEN];
  private final Arena arena = Arena.ofShared();
  private final List<AutoCloseable> open = new ArrayList<>();

  LinkTest() {
    Arrays.fill(token, (byte) 7);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
    arena.close();
  }

  private <T extends AutoCloseable> T closed(T thing) {
    open.add(thing);
    return thing;
  }

  private static CompletableFuture<Map<Integer, SocketChannel>> await(Port port) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return port.await(Set.of(RANK), PATIENCE);
          } catch (IOException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  /** A link to a rank, and the rank's own end. */
  private record Pair(Link link, SocketChannel end) {}

  private Pair pair() throws Exception {
    try (Port port = Port.open(token)) {
      var coming = await(port);
      SocketChannel end = closed(Port.connect(port.number(), token, RANK, PATIENCE));
      return new Pair(closed(new Link("rank 3", coming.get().get(RANK))), end);
    }
  }

  @Test
  void strangersAreSentAwayWithoutAWordAndBreakNothing() throws Exception {
    try (Port port = Port.open(token)) {
      List<Socket> strangers = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        strangers.add(closed(new Socket(InetAddress.getLoopbackAddress(), port.number())));
      }
      // One that says too little, one too much, one the wrong thing, and one who goes at once.
      strangers.get(0).getOutputStream().write(new byte[5]);
      strangers.get(1).getOutputStream().write(new byte[100_000]);
      byte[] wrong = token.clone();
      wrong[Port.TOKEN - 1]++;
      SocketChannel guess = closed(Port.connect(port.number(), wrong, RANK, PATIENCE));
      SocketChannel other = closed(Port.connect(port.number(), token, RANK + 1, PATIENCE));
      strangers.get(2).close();
      var coming = await(port);
      SocketChannel real = closed(Port.connect(port.number(), token, RANK, PATIENCE));

      Map<Integer, SocketChannel> come = coming.get();
      closed(come.get(RANK));

      assertThat(come.keySet()).containsExactly(RANK);
      assertThat(come.get(RANK).getRemoteAddress()).isEqualTo(real.getLocalAddress());
      for (SocketChannel sentAway : List.of(guess, other)) {
        assertThat(read(sentAway)).isNegative();
      }
      assertThat(strangers.get(0).getInputStream().read()).isNegative();
    }
  }

  private static int read(SocketChannel channel) throws IOException {
    try {
      return channel.read(ByteBuffer.allocate(1));
    } catch (IOException e) {
      return -1; // reset: it had said more than was heard
    }
  }

  @Test
  void aPortWaitsNoLongerThanItIsTold() throws Exception {
    try (Port port = Port.open(token)) {
      assertThatThrownBy(() -> port.await(Set.of(RANK), SHORT))
          .hasMessageContaining("not all ranks connected within 0.2 s");
    }
  }

  @Test
  void bothEndsMoveBlocksAtTheSameTime() throws Exception {
    Pair pair = pair();
    Link there = closed(new Link("rank 0", pair.end()));
    // More than the system's buffers hold: who only sent would never end.
    MemorySegment sent = arena.allocate(20_000_000);
    sent.fill((byte) 5);
    MemorySegment back = arena.allocate(10_000_000);
    MemorySegment received = arena.allocate(20_000_000);
    var other =
        CompletableFuture.runAsync(() -> run(there.sending(back), there.receiving(received)));

    run(pair.link().sending(sent), pair.link().receiving(arena.allocate(10_000_000)));
    other.get();

    assertThat(received.mismatch(sent)).isEqualTo(-1);
    assertThat(pair.link().bytesOut()).isEqualTo(20_000_000 + Link.headerBytes());
    assertThat(there.bytesIn()).isEqualTo(pair.link().bytesOut());
    assertThat(pair.link().bytesIn()).isEqualTo(10_000_000 + Link.headerBytes());
  }

  private static void run(Link.Transfer... transfers) {
    try {
      Link.run(PATIENCE, List.of(transfers));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aLengthThatIsNotDueIsRefusedBeforeAnythingIsRead() throws Exception {
    Pair pair = pair();
    var _ =
        pair.end()
            .write(ByteBuffer.allocate(20).putInt(0x52696E67).putLong(0).putLong(1L << 60).flip());

    assertThatThrownBy(() -> receive(pair, PATIENCE))
        .hasMessage(
            "rank 3 sent a message that is none of the ring's: number 0 of 1152921504606846976"
                + " bytes where number 0 of 8 bytes is due");
  }

  @Test
  void whatIsNoMessageIsRefused() throws Exception {
    Pair pair = pair();
    var _ =
        pair.end()
            .write(ByteBuffer.wrap("GET / HTTP/1.1\r\n\r\n....".getBytes(StandardCharsets.UTF_8)));

    assertThatThrownBy(() -> receive(pair, PATIENCE)).hasMessageContaining("none of the ring's");
  }

  @Test
  void aRankThatClosesItsConnectionIsNamed() throws Exception {
    Pair pair = pair();
    pair.end().close();

    assertThatThrownBy(() -> receive(pair, PATIENCE)).hasMessage("rank 3 closed its connection");
  }

  @Test
  void aRankThatSendsOrTakesNothingIsNamed() throws Exception {
    Pair pair = pair();

    assertThatThrownBy(() -> receive(pair, SHORT)).hasMessage("rank 3 sent nothing for 0.2 s");
    assertThatThrownBy(
            () -> Link.run(SHORT, List.of(pair.link().sending(arena.allocate(50_000_000)))))
        .hasMessage("rank 3 took nothing for 0.2 s");
  }

  private void receive(Pair pair, Duration patience) throws IOException {
    Link.run(patience, List.of(pair.link().receiving(arena.allocate(8))));
  }
}
