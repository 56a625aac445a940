package io.steelyard.kernels.assembler;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R12;
import static io.steelyard.kernels.assembler.Gpr.R13;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Gpr.RSP;

import io.steelyard.kernels.assembler.Op.Encoding;
import io.steelyard.kernels.assembler.Op.Form;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** Every instruction of the assembler in many shapes: its text in Intel's syntax, and its bytes. */
final class Encodings {
  private static final List<Mem> PLACES =
      List.of(
          Mem.at(RAX),
          Mem.at(RBP),
          Mem.at(RSP, 64),
          Mem.at(R12, 128),
          Mem.at(R13, -64),
          Mem.at(RDI, 4),
          Mem.at(RSI, 8192),
          Mem.at(RSI, 100_000),
          Mem.at(RCX, -8),
          Mem.at(RDI, R10, 4),
          Mem.at(R8, RAX, 8, 256),
          Mem.at(RBP, R13, 1, 2));

  private final Map<String, String> hexByText = new LinkedHashMap<>();

  private Encodings() {}

  /** All of them, in a fixed order. */
  static Map<String, String> all() {
    Encodings encodings = new Encodings();
    encodings.general();
    encodings.masks();
    encodings.tiles();
    for (Op op : Op.values()) {
      encodings.vector(op);
    }
    return encodings.hexByText;
  }

  private void add(String text, Consumer<Assembler> instruction) {
    Assembler assembler = new Assembler();
    instruction.accept(assembler);
    hexByText.put(text, HexFormat.of().formatHex(assembler.code()));
  }

  private void general() {
    for (Gpr r : Gpr.values()) {
      add("mov %s, rdx".formatted(name(r)), a -> a.mov(r, Gpr.RDX));
      add("mov r9, %s".formatted(name(r)), a -> a.mov(Gpr.R9, r));
      add("add %s, 8".formatted(name(r)), a -> a.add(r, 8));
      add("call %s".formatted(name(r)), a -> a.call(r));
      add("push %s".formatted(name(r)), a -> a.push(r));
      add("pop %s".formatted(name(r)), a -> a.pop(r));
      add("shl %s, 6".formatted(name(r)), a -> a.shl(r, 6));
      add("shr %s, 3".formatted(name(r)), a -> a.shr(r, 3));
      add("test %s, rcx".formatted(name(r)), a -> a.test(r, RCX));
      add("shlx %s, r14, rbx".formatted(name(r)), a -> a.shlx(r, Gpr.R14, Gpr.RBX));
      add("movabs %s, 81985529216486895".formatted(name(r)), a -> a.mov(r, 0x123456789ABCDEFL));
    }
    add("mov edx, 70000", a -> a.mov(Gpr.RDX, 70_000));
    add("mov r10d, 7", a -> a.mov(R10, 7));
    add("add rdi, rsi", a -> a.add(RDI, RSI));
    add("add rbx, 1000", a -> a.add(Gpr.RBX, 1000));
    add("sub r15, -64", a -> a.sub(Gpr.R15, -64));
    add("sub rdi, r9", a -> a.sub(RDI, Gpr.R9));
    add("and rsp, -64", a -> a.and(RSP, -64));
    add("or rdx, r12", a -> a.or(Gpr.RDX, R12));
    add("xor r11, r11", a -> a.xor(Gpr.R11, Gpr.R11));
    add("cmp rdi, rax", a -> a.cmp(RDI, RAX));
    add("cmp r12, 5", a -> a.cmp(R12, 5));
    add("ret", Assembler::ret);
    add("cpuid", Assembler::cpuid);
    add("xgetbv", Assembler::xgetbv);
    add("vzeroupper", Assembler::vzeroupper);
    for (Mem place : PLACES) {
      String at = text(place);
      add("mov rbx, qword ptr " + at, a -> a.mov(Gpr.RBX, place));
      add("mov qword ptr " + at + ", r9", a -> a.mov(place, Gpr.R9));
      add("mov ecx, dword ptr " + at, a -> a.mov32(RCX, place));
      add("mov dword ptr " + at + ", r8d", a -> a.mov32(place, R8));
      add("prefetchw byte ptr " + at, a -> a.prefetchw(place));
      add("prefetcht1 byte ptr " + at, a -> a.prefetcht1(place));
      add("lea r11, " + at, a -> a.lea(Gpr.R11, place));
      add("add rdx, qword ptr " + at, a -> a.add(Gpr.RDX, place));
    }
  }

  private void masks() {
    add("kmovd k3, eax", a -> a.kmovd(Mask.K3, RAX));
    add("kmovd k7, r10d", a -> a.kmovd(Mask.K7, R10));
    add("kmovq k1, rdi", a -> a.kmovq(Mask.K1, RDI));
    add("kmovq k2, r12", a -> a.kmovq(Mask.K2, R12));
    for (int n : new int[] {1, 9, 20, 30}) {
      add(
          "vpcmpd k4, zmm%d, zmm7, 6".formatted(n),
          a -> a.vpcmpd(Mask.K4, Vec.zmm(n), Vec.zmm(7), 6));
      add("vpbroadcastd zmm%d, r9d".formatted(n), a -> a.vpbroadcastd(Vec.zmm(n), Gpr.R9));
    }
    add("vpbroadcastd ymm17, eax", a -> a.vpbroadcastd(Vec.ymm(17), RAX));
    add("vmovd xmm3, r9d", a -> a.vmovd(Vec.xmm(3), Gpr.R9));
    add("vmovd xmm12, ecx", a -> a.vmovd(Vec.xmm(12), RCX));
  }

  private void tiles() {
    add("tilerelease", Assembler::tilerelease);
    for (Tile t : Tile.values()) {
      String name = t.name().toLowerCase(Locale.ROOT);
      add("tilezero " + name, a -> a.tilezero(t));
      if (t != Tile.TMM2 && t != Tile.TMM6) {
        add("tdpbf16ps %s, tmm2, tmm6".formatted(name), a -> a.tdpbf16ps(t, Tile.TMM2, Tile.TMM6));
        add("tdpbusd %s, tmm2, tmm6".formatted(name), a -> a.tdpbusd(t, Tile.TMM2, Tile.TMM6));
      }
    }
    for (Mem place : PLACES) {
      add("ldtilecfg " + text(place), a -> a.ldtilecfg(place));
      if (place.index().isPresent()) {
        add("tileloadd tmm3, " + text(place), a -> a.tileloadd(Tile.TMM3, place));
        add("tilestored " + text(place) + ", tmm7", a -> a.tilestored(place, Tile.TMM7));
      }
    }
  }

  /** Widths of destination and of the register-or-memory operand, for a vector of so many bytes. */
  private record Widths(int to, int first, int second) {}

  private static Widths widths(Op op, int bytes) {
    return switch (op) {
      case VINSERTI128 -> new Widths(bytes, bytes, 16);
      case VINSERTI64X4 -> new Widths(bytes, bytes, 32);
      case VEXTRACTF128 -> new Widths(16, bytes, bytes);
      case VEXTRACTF64X4 -> new Widths(32, bytes, bytes);
      case VBROADCASTSS, VPBROADCASTB, VPBROADCASTW, VPBROADCASTD -> new Widths(bytes, 16, 16);
      case VCVTPH2PS, VPMOVZXWD, VPMOVSXBW, VPMOVZXBW ->
          new Widths(bytes, Math.max(16, bytes / 2), 0);
      case VPMOVSXBD, VPMOVZXBD -> new Widths(bytes, 16, 0);
      case VCVTPS2PH, VCVTNEPS2BF16 -> new Widths(Math.max(16, bytes / 2), bytes, 0);
      case VPMOVDB -> new Widths(16, bytes, 0);
      default -> new Widths(bytes, bytes, bytes);
    };
  }

  static boolean exists(Op op, int bytes) {
    boolean scalar =
        (op.memory == Op.Memory.DWORD || op == Op.VPEXTRW_STORE || op == Op.VPEXTRB_STORE)
            && op != Op.VBROADCASTSS
            && op != Op.VPBROADCASTD;
    return switch (op) {
      case VBROADCASTI64X4, VINSERTI64X4, VEXTRACTF64X4 -> bytes == 64;
      case VBROADCASTI32X4, VSHUFI32X4, VSHUFF32X4, VPERMPS -> bytes >= 32;
      case VINSERTI128, VEXTRACTF128, VBROADCASTI128 -> bytes == 32;
      default -> scalar ? bytes == 16 : op.encoding == Encoding.AVX ? bytes <= 32 : true;
    };
  }

  private void vector(Op op) {
    boolean memoryOnly =
        switch (op) {
          case VMOVSS,
              VBROADCASTI128,
              VBROADCASTI32X4,
              VBROADCASTI64X4,
              VMASKMOVPS,
              VMASKMOVPS_STORE ->
              true;
          default -> false;
        };
    int highest = op.encoding == Encoding.AVX ? 15 : 31;
    for (int bytes : new int[] {16, 32, 64}) {
      if (!exists(op, bytes)) {
        continue;
      }
      Widths widths = widths(op, bytes);
      if (op.form != Form.MR || op.memory == Op.Memory.HALF || name(op).startsWith("vextract")) {
        for (int[] n : new int[][] {{1, 2, 3}, {9, 4, 12}, {7, 13, 10}, {24, 17, 30}, {5, 31, 2}}) {
          if (!memoryOnly && n[0] <= highest && n[1] <= highest && n[2] <= highest) {
            registers(op, new Vec(n[0], widths.to), new Vec(n[1], widths.first), n[2], widths);
          }
        }
      }
      if (op.form == Form.VM || op == Op.VCVTNEPS2BF16) {
        continue;
      }
      for (Mem place : PLACES) {
        inMemory(op, bytes, place);
      }
      if (op.memory.broadcastBytes > 0 && op.form == Form.RVM && op.encoding != Encoding.AVX) {
        for (Mem place : PLACES) {
          String all = "{1to" + bytes / op.memory.broadcastBytes + "}";
          Vec to = new Vec(3, bytes);
          Vec a = new Vec(21, bytes);
          if (immediate(op).isEmpty()) {
            add(
                "%s %s, %s, %s%s".formatted(name(op), name(to), name(a), text(place), all),
                x -> x.broadcast(op, to, a, place));
          }
        }
      }
      if (op.encoding != Encoding.AVX && op.form == Form.RVM && bytes == 64) {
        Vec to = Vec.zmm(4);
        Vec a = Vec.zmm(18);
        Vec b = new Vec(6, widths.second);
        String text = "%s zmm4{k3}%s, zmm18, %s%s";
        if (immediate(op).isEmpty()) {
          add(
              text.formatted(name(op), "", name(b), immediate(op)),
              x -> x.merge(Mask.K3).op(op, to, a, b));
          add(
              text.formatted(name(op), "{z}", name(b), immediate(op)),
              x -> x.zero(Mask.K3).op(op, to, a, b));
        }
      }
      if (op.encoding == Encoding.AVX512 && op.form != Form.RVM && immediate(op).isEmpty()) {
        Mem place = Mem.at(RDI, 64);
        Vec register = new Vec(19, bytes);
        if (op.form == Form.RM && op != Op.VCVTNEPS2BF16) {
          add(
              "%s %s{k5}{z}, %s".formatted(name(op), name(register), text(place)),
              x -> x.zero(Mask.K5).op(op, register, place));
        } else if (op.form == Form.MR) {
          add(
              "%s %s{k5}, %s".formatted(name(op), text(place), name(register)),
              x -> x.merge(Mask.K5).op(op, place, register));
        }
      }
    }
  }

  private void registers(Op op, Vec to, Vec a, int third, Widths widths) {
    String immediate = immediate(op);
    if (op.form == Form.RVM) {
      Vec b = new Vec(third, widths.second);
      String text = "%s %s, %s, %s%s".formatted(name(op), name(to), name(a), name(b), immediate);
      add(
          text,
          x -> {
            if (immediate.isEmpty()) {
              x.op(op, to, a, b);
            } else {
              x.op(op, to, a, b, 1);
            }
          });
    } else {
      // Of two equal moves the GNU assembler takes the shorter, unless told.
      String load = op.form == Form.RM ? "{load} " : "";
      String text = load + "%s %s, %s%s".formatted(name(op), name(to), name(a), immediate);
      add(
          text,
          x -> {
            if (immediate.isEmpty()) {
              x.op(op, to, a);
            } else {
              x.op(op, to, a, 1);
            }
          });
    }
  }

  private void inMemory(Op op, int bytes, Mem place) {
    String immediate = immediate(op);
    boolean more = op.encoding != Encoding.AVX;
    for (int number : more ? new int[] {1, 27} : new int[] {1, 11}) {
      Vec register = new Vec(number, bytes);
      Vec second = new Vec(more ? 20 : 14, bytes);
      switch (op.form) {
        case RM ->
            add(
                "%s %s, %s%s".formatted(name(op), name(register), text(place), immediate),
                x -> {
                  if (immediate.isEmpty()) {
                    x.op(op, register, place);
                  } else {
                    x.op(op, register, place, 1);
                  }
                });
        case MR ->
            add(
                "%s %s, %s%s".formatted(name(op), text(place), name(register), immediate),
                x -> {
                  if (immediate.isEmpty()) {
                    x.op(op, place, register);
                  } else {
                    x.op(op, place, register, 1);
                  }
                });
        case RVM ->
            add(
                (op == Op.VMASKMOVPS_STORE ? "%1$s %4$s, %3$s, %2$s" : "%s %s, %s, %s%s")
                    .formatted(name(op), name(register), name(second), text(place), immediate),
                x -> {
                  if (immediate.isEmpty()) {
                    x.op(op, register, second, place);
                  } else {
                    x.op(op, register, second, place, 1);
                  }
                });
        case VM -> {}
      }
    }
  }

  private static String immediate(Op op) {
    return switch (op) {
      case VINSERTI64X4,
          VINSERTI128,
          VEXTRACTF128,
          VEXTRACTF64X4,
          VPEXTRB_STORE,
          VPTERNLOGD,
          VPEXTRW_STORE,
          VPEXTRD_STORE,
          VSHUFF32X4,
          VCVTPS2PH,
          VPERMILPS,
          VRNDSCALEPS,
          VSHUFI32X4 ->
          ", 1";
      default -> op.form == Form.VM ? ", 1" : "";
    };
  }

  private static String name(Op op) {
    String name = op.name().toLowerCase(Locale.ROOT).replaceAll("_(store|imm)$", "");
    // Of two encodings the GNU assembler takes AVX-512's, unless told.
    return op == Op.VPDPWSSD ? "{vex} " + name : name;
  }

  private static String name(Gpr register) {
    return register.name().toLowerCase(Locale.ROOT);
  }

  private static String name(Vec register) {
    return (register.bytes() == 64 ? "zmm" : register.bytes() == 32 ? "ymm" : "xmm")
        + register.number();
  }

  private static String text(Mem place) {
    StringBuilder text = new StringBuilder("[").append(name(place.base()));
    place
        .index()
        .ifPresent(index -> text.append('+').append(name(index)).append('*').append(place.scale()));
    if (place.displacement() != 0) {
      text.append(place.displacement() < 0 ? "" : "+").append(place.displacement());
    }
    return text.append(']').toString();
  }
}
