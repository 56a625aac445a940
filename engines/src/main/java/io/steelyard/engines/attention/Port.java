package io.steelyard.engines.attention;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A port of this machine alone. It is open until those it waits for have come; whoever else
 * connects, and doesn't know the ring's token, is told nothing and sent away.
 */
final class Port implements AutoCloseable {
  /** Bytes of a token. */
  static final int TOKEN = 32;

  private static final int GREETING = TOKEN + Integer.BYTES;

  /** The most connections that may make up their minds. */
  private static final int MOST_PENDING = 64;

  private static final int BACKLOG = 1024;

  private final ServerSocketChannel server;
  private final byte[] token;

  private Port(ServerSocketChannel server, byte[] token) {
    this.server = server;
    this.token = token.clone();
  }

  /** Opens a port that nobody else uses. */
  static Port open(byte[] token) throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open();
    try {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
      server.configureBlocking(false);
    } catch (IOException e) {
      server.close();
      throw e;
    }
    return new Port(server, token);
  }

  int number() throws IOException {
    return ((InetSocketAddress) server.getLocalAddress()).getPort();
  }

  /** Connects to a port and says who it is. */
  static SocketChannel connect(int port, byte[] token, int rank, Duration patience)
      throws IOException {
    SocketChannel channel = SocketChannel.open();
    try {
      channel
          .socket()
          .connect(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
              (int) patience.toMillis());
      ByteBuffer greeting = ByteBuffer.allocate(GREETING).put(token).putInt(rank).flip();
      while (greeting.hasRemaining()) {
        channel.write(greeting);
      }
      return channel;
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  /**
   * Waits for ranks to connect.
   *
   * @throws IOException if one of them doesn't come in time
   */
  Map<Integer, SocketChannel> await(Set<Integer> ranks, Duration patience) throws IOException {
    Map<Integer, SocketChannel> come = new HashMap<>();
    Deque<SelectionKey> pending = new ArrayDeque<>();
    long began = System.nanoTime();
    try (Selector selector = Selector.open()) {
      server.register(selector, SelectionKey.OP_ACCEPT);
      while (!come.keySet().equals(ranks)) {
        long left = patience.toNanos() - (System.nanoTime() - began);
        if (left <= 0) {
          throw new IOException(
              "not all ranks connected within %s s".formatted(patience.toMillis() / 1e3));
        }
        selector.select(Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
        for (SelectionKey key : selector.selectedKeys()) {
          if (!key.isValid()) {
            continue; // it was sent away for those that came after it
          }
          if (key.isAcceptable()) {
            accept(selector, pending);
          } else {
            hear(key, ranks, come, pending);
          }
        }
        selector.selectedKeys().clear();
      }
      return come;
    } catch (IOException e) {
      for (SocketChannel channel : come.values()) {
        channel.close();
      }
      throw e;
    } finally {
      for (SelectionKey key : pending) {
        key.channel().close();
      }
    }
  }

  private void accept(Selector selector, Deque<SelectionKey> pending) throws IOException {
    SocketChannel channel = server.accept();
    if (channel == null) {
      return;
    }
    channel.configureBlocking(false);
    pending.add(channel.register(selector, SelectionKey.OP_READ, ByteBuffer.allocate(GREETING)));
    if (pending.size() > MOST_PENDING) {
      pending.remove().channel().close();
    }
  }

  /** Hears what somebody says, and takes one who knows the token and is waited for. */
  private void hear(
      SelectionKey key,
      Set<Integer> ranks,
      Map<Integer, SocketChannel> come,
      Deque<SelectionKey> pending)
      throws IOException {
    SocketChannel channel = (SocketChannel) key.channel();
    ByteBuffer greeting = (ByteBuffer) key.attachment();
    boolean ended;
    try {
      ended = channel.read(greeting) < 0;
    } catch (IOException e) {
      ended = true; // a stranger's connection that broke is no trouble of the ring's
    }
    if (!ended && greeting.hasRemaining()) {
      return;
    }
    pending.remove(key);
    byte[] said = new byte[TOKEN];
    greeting.flip();
    if (!ended && isToken(greeting, said)) {
      int rank = greeting.getInt();
      if (ranks.contains(rank) && !come.containsKey(rank)) {
        key.cancel();
        come.put(rank, channel);
        return;
      }
    }
    channel.close();
  }

  private boolean isToken(ByteBuffer greeting, byte[] said) {
    greeting.get(said);
    return MessageDigest.isEqual(said, token);
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
