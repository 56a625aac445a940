package io.steelyard.kernels;

import io.steelyard.kernels.machine.Function;
import java.lang.foreign.Arena;

/**
 * Calls of machine code, made in order by one downcall. A downcall takes microseconds until the JVM
 * has compiled what leads to it, and a short prompt in a fresh process would spend most of its time
 * so.
 */
final class CallList implements AutoCloseable {
  private static final int MOST = 64;

  /** Longs of a call: its function's address and its arguments, then those of {@link #put}. */
  private static final int CALL = 7;

  private static final int RECORD = CALL + 7;

  private final Function calls;
  private final Arena arena = Arena.ofShared();
  private final long address;
  private final long[] longs = new long[MOST * RECORD];
  private int size;

  /**
   * Begins.
   *
   * @param calls makes calls that are listed in memory
   */
  CallList(Function calls) {
    this.calls = calls;
    address = arena.allocate((long) longs.length * Long.BYTES, Rows.ALIGNMENT).address();
  }

  /** Adds a call; if the list is full, those before are made. */
  void add(Function function, long a, long b, long c, long d, long e, long f) {
    if (size == longs.length) {
      run();
    }
    longs[size] = function.address();
    longs[size + 1] = a;
    longs[size + 2] = b;
    longs[size + 3] = c;
    longs[size + 4] = d;
    longs[size + 5] = e;
    longs[size + 6] = f;
    size += RECORD;
  }

  /** Adds a call whose last argument is the address of seven longs, for {@link #put} to set. */
  void add(Function function, long a, long b, long c, long d, long e) {
    add(function, a, b, c, d, e, 0);
    longs[size - RECORD + CALL - 1] = address + (long) (size - RECORD + CALL) * Long.BYTES;
  }

  /** Sets one of the last call's longs. */
  void put(int index, long value) {
    longs[size - RECORD + CALL + index] = value;
  }

  /** Makes the calls and forgets them. */
  void run() {
    if (size > 0) {
      RawMemory.putLongs(address, longs, size);
      calls.call(address, size / RECORD, RECORD * Long.BYTES, 0);
      clear();
    }
  }

  /** Forgets calls that have not been made. */
  void clear() {
    size = 0;
  }

  @Override
  public void close() {
    arena.close();
  }
}
