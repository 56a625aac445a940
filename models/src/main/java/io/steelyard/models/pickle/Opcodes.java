package io.steelyard.models.pickle;

import java.util.HashMap;
import java.util.Map;

/** The pickle instructions that are read, and the names of all others for refusals. */
final class Opcodes {
  static final int PROTO = 0x80;
  static final int FRAME = 0x95;
  static final int STOP = '.';
  static final int MARK = '(';
  static final int POP = '0';
  static final int NONE = 'N';
  static final int NEWTRUE = 0x88;
  static final int NEWFALSE = 0x89;
  static final int BININT = 'J';
  static final int BININT1 = 'K';
  static final int BININT2 = 'M';
  static final int LONG1 = 0x8a;
  static final int BINFLOAT = 'G';
  static final int BINUNICODE = 'X';
  static final int SHORT_BINUNICODE = 0x8c;
  static final int EMPTY_LIST = ']';
  static final int APPEND = 'a';
  static final int APPENDS = 'e';
  static final int EMPTY_TUPLE = ')';
  static final int TUPLE = 't';
  static final int TUPLE1 = 0x85;
  static final int TUPLE2 = 0x86;
  static final int TUPLE3 = 0x87;
  static final int EMPTY_DICT = '}';
  static final int SETITEM = 's';
  static final int SETITEMS = 'u';
  static final int BINPUT = 'q';
  static final int LONG_BINPUT = 'r';
  static final int MEMOIZE = 0x94;
  static final int BINGET = 'h';
  static final int LONG_BINGET = 'j';
  static final int GLOBAL = 'c';
  static final int STACK_GLOBAL = 0x93;
  static final int REDUCE = 'R';
  static final int BUILD = 'b';
  static final int BINPERSID = 'Q';

  private static final Map<Integer, String> REFUSED = new HashMap<>();

  static {
    String names =
        "1 POP_MARK 2 DUP F FLOAT I INT L LONG S STRING T BINSTRING U SHORT_BINSTRING V UNICODE"
            + " B BINBYTES C SHORT_BINBYTES P PERSID d DICT l LIST g GET p PUT i INST o OBJ";
    String[] parts = names.split(" ", -1);
    for (int i = 0; i < parts.length; i += 2) {
      REFUSED.put((int) parts[i].charAt(0), parts[i + 1]);
    }
    String[] above = {
      "81 NEWOBJ",
      "82 EXT1",
      "83 EXT2",
      "84 EXT4",
      "8b LONG4",
      "8d BINUNICODE8",
      "8e BINBYTES8",
      "8f EMPTY_SET",
      "90 ADDITEMS",
      "91 FROZENSET",
      "92 NEWOBJ_EX",
      "96 BYTEARRAY8",
      "97 NEXT_BUFFER",
      "98 READONLY_BUFFER"
    };
    for (String each : above) {
      REFUSED.put(Integer.parseInt(each.substring(0, 2), 16), each.substring(3));
    }
  }

  private Opcodes() {}

  /** What an instruction that isn't read is called. */
  static String refused(int opcode) {
    return REFUSED.getOrDefault(opcode, "the unknown instruction 0x%02x".formatted(opcode));
  }
}
