package io.steelyard.engines.attention;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A connection to a rank, or to their coordinator. Messages are numbered, and both sides know how
 * long each is before it comes: what a header says is compared, never allocated.
 *
 * <pre>
 * magic 4 bytes · number of the message 8 bytes · bytes that follow 8 bytes · these bytes
 * </pre>
 */
final class Link implements AutoCloseable {
  private static final int MAGIC = 0x52696E67;
  private static final int HEADER = Integer.BYTES + 2 * Long.BYTES;

  /** The most that one call of the system is handed: such a slice is a buffer, the whole is not. */
  private static final long SLICE = 1 << 22;

  private static final String CLOSED = " closed its connection";
  private static final String BROKEN = "the connection to ";
  private static final String SENT_NOTHING = " sent nothing";
  private static final String TOOK_NOTHING = " took nothing";

  private final String peer;
  private final SocketChannel channel;
  private long messagesOut;
  private long messagesIn;
  private long bytesOut;
  private long bytesIn;

  /**
   * A link over a connection that both sides have agreed on.
   *
   * @param peer who is at the other end, for messages
   */
  Link(String peer, SocketChannel channel) throws IOException {
    this.peer = peer;
    this.channel = channel;
    channel.configureBlocking(false);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
  }

  /** Bytes sent so far, headers too. */
  long bytesOut() {
    return bytesOut;
  }

  /** Bytes received so far, headers too. */
  long bytesIn() {
    return bytesIn;
  }

  /** Bytes of the header of every message. */
  static long headerBytes() {
    return HEADER;
  }

  /** A message that is on its way. */
  abstract static sealed class Transfer {
    final Link link;
    final ByteBuffer header = ByteBuffer.allocate(HEADER);
    final MemorySegment body;
    long done;

    private Transfer(Link link, MemorySegment body) {
      this.link = link;
      this.body = body;
    }

    abstract int interest();

    /** Moves what can be moved at once; gives the bytes. */
    abstract long advance() throws IOException;

    /** What to say of a peer that does nothing. */
    abstract String stalled();

    final boolean isDone() {
      return !header.hasRemaining() && done == body.byteSize();
    }

    final ByteBuffer slice() {
      return body.asSlice(done, Math.min(SLICE, body.byteSize() - done)).asByteBuffer();
    }
  }

  private static final class Outgoing extends Transfer {
    private Outgoing(Link link, MemorySegment body) {
      super(link, body);
      header.putInt(MAGIC).putLong(link.messagesOut++).putLong(body.byteSize()).flip();
    }

    @Override
    int interest() {
      return SelectionKey.OP_WRITE;
    }

    @Override
    long advance() throws IOException {
      long before = link.bytesOut;
      try {
        if (header.hasRemaining()) {
          link.bytesOut += link.channel.write(header);
        }
        while (!header.hasRemaining() && !isDone()) {
          int written = link.channel.write(slice());
          if (written == 0) {
            break;
          }
          done += written;
          link.bytesOut += written;
        }
      } catch (IOException e) {
        throw link.broken(e);
      }
      return link.bytesOut - before;
    }

    @Override
    String stalled() {
      return link.peer + TOOK_NOTHING;
    }
  }

  private static final class Incoming extends Transfer {
    private final long number;

    private Incoming(Link link, MemorySegment body) {
      super(link, body);
      number = link.messagesIn++;
    }

    @Override
    int interest() {
      return SelectionKey.OP_READ;
    }

    @Override
    long advance() throws IOException {
      long before = link.bytesIn;
      if (header.hasRemaining()) {
        link.bytesIn += read(header);
        if (header.hasRemaining()) {
          return link.bytesIn - before;
        }
        check();
      }
      while (!isDone()) {
        int read = read(slice());
        if (read == 0) {
          break;
        }
        done += read;
        link.bytesIn += read;
      }
      return link.bytesIn - before;
    }

    private int read(ByteBuffer into) throws IOException {
      int read;
      try {
        read = link.channel.read(into);
      } catch (IOException e) {
        throw link.broken(e);
      }
      if (read < 0) {
        throw new IOException(link.peer + CLOSED);
      }
      return read;
    }

    private void check() throws IOException {
      header.flip();
      int magic = header.getInt();
      long told = header.getLong();
      long bytes = header.getLong();
      if (magic != MAGIC || told != number || bytes != body.byteSize()) {
        throw new IOException(
            "%s sent a message that is none of the ring's: number %d of %d bytes where number %d of %d bytes is due"
                .formatted(link.peer, told, bytes, number, body.byteSize()));
      }
    }

    @Override
    String stalled() {
      return link.peer + SENT_NOTHING;
    }
  }

  private IOException broken(IOException cause) {
    return new IOException(BROKEN + peer + " broke: " + cause.getMessage(), cause);
  }

  /** Whether a message tells of a peer that hangs. */
  static boolean isStall(String message) {
    return message.contains(SENT_NOTHING) || message.contains(TOOK_NOTHING);
  }

  /** Whether a message tells of what a peer did: that peer may know more. */
  static boolean isOfPeer(String message) {
    return message.contains(CLOSED) || message.contains(BROKEN) || isStall(message);
  }

  /** A message to be sent by {@link #run}. */
  Transfer sending(MemorySegment body) {
    return new Outgoing(this, body);
  }

  /** A message to be received by {@link #run}. */
  Transfer receiving(MemorySegment body) {
    return new Incoming(this, body);
  }

  /**
   * Moves messages, all at the same time.
   *
   * @param patience how long nothing at all may move
   * @throws IOException if a peer is gone, hangs or sends something else; the message says which
   */
  static void run(Duration patience, List<Transfer> transfers) throws IOException {
    try (Selector selector = Selector.open()) {
      for (Transfer transfer : transfers) {
        transfer.link.channel.register(selector, 0);
      }
      long moved = System.nanoTime();
      while (true) {
        long bytes = 0;
        for (Transfer transfer : transfers) {
          bytes += transfer.isDone() ? 0 : transfer.advance();
        }
        List<Transfer> left = transfers.stream().filter(transfer -> !transfer.isDone()).toList();
        if (left.isEmpty()) {
          return;
        }
        if (bytes > 0) {
          moved = System.nanoTime();
          continue;
        }
        long rest = patience.toNanos() - (System.nanoTime() - moved);
        if (rest <= 0 || Thread.currentThread().isInterrupted()) {
          throw new IOException(
              "%s for %s s".formatted(left.getFirst().stalled(), patience.toMillis() / 1e3));
        }
        selector.keys().forEach(key -> key.interestOps(0));
        // A link may both send and receive.
        left.forEach(
            transfer -> transfer.link.channel.keyFor(selector).interestOpsOr(transfer.interest()));
        selector.select(Math.max(1, TimeUnit.NANOSECONDS.toMillis(rest)));
        selector.selectedKeys().clear();
      }
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
