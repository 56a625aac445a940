"""Writes the golden files of this folder: what numpy and ml_dtypes make of the schemes' definitions.

python golden.py, with numpy and ml_dtypes
"""

import ml_dtypes
import numpy as np

F = np.float32
COLUMNS = 640


def source(rows):
    """A linear congruential generator's high bits, cubed: many small values, few large ones."""
    state, values = 1, []
    for _ in range(rows * COLUMNS):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append(F((state >> 40) - 2**23) / F(2**23))
    v = np.array(values, F).reshape(rows, COLUMNS)
    return v * v * v


def write(name, blocks, values, scales=()):
    blocks.tofile(name + ".blocks")
    values.astype(F).tofile(name + ".f32")
    np.array(scales, F).tofile(name + ".scales")


def int8(x, scale):
    return np.clip(np.rint(x / scale), -127, 127).astype(np.int8)


def int8_groups(name, x, size):
    g = x.reshape(-1, size)
    scale = np.abs(g).max(1, keepdims=True) / F(127)
    q = int8(g, scale)
    write(name, np.hstack([scale.view(np.uint8), q.view(np.uint8)]), q.astype(F) * scale)


def fp8(name, x, kind, largest):
    scale = np.abs(x).max() / F(largest)
    q = (x / scale).astype(kind)
    write(name, q.view(np.uint8), q.astype(F) * scale, [scale])


NF4 = np.array(
    [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
     -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
     0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
     0.7229568362236023, 1.0], F)


def nearest(levels, x):
    return np.abs(levels.astype(np.float64) - x.astype(np.float64)[..., None]).argmin(-1)


def high_first(nibbles):
    return (nibbles[:, ::2] << 4 | nibbles[:, 1::2]).astype(np.uint8)


def dynamic_map():
    data = [0.0, 1.0]
    for i in range(7):
        edges = np.linspace(0.1, 1, 2**i + 1)
        means = (edges[:-1] + edges[1:]) / 2 * 10.0 ** (i - 6)
        data += list(means) + list(-means)
    return np.sort(np.array(data).astype(F))


def nf4(x):
    g = x.reshape(-1, 64)
    largest = np.abs(g).max(1, keepdims=True)
    q = nearest(NF4, g / largest)
    write("NF4", np.hstack([largest.view(np.uint8), high_first(q)]), NF4[q] * largest)


def nf4_dq(x):
    g = x.reshape(-1, 64)
    largest = np.abs(g).max(1)
    q = nearest(NF4, g / largest[:, None])
    offset = F(largest.astype(np.float64).mean())
    off = largest - offset
    scales = np.array([np.abs(off[i:i + 256]).max() for i in range(0, len(off), 256)], F)
    scale = np.repeat(scales, 256)[:len(off)]
    levels = dynamic_map()
    code = nearest(levels, off / scale)
    decoded = levels[code] * scale + offset
    write("NF4_DQ", np.hstack([code.astype(np.uint8)[:, None], high_first(q)]),
          NF4[q] * decoded[:, None], [offset, *scales])


def fp4(x):
    g = x.reshape(-1, 64)
    scale = np.abs(g).max(1, keepdims=True) / F(6)
    q = (g / scale).astype(ml_dtypes.float4_e2m1fn)
    bits = q.view(np.uint8) & 0xF
    write("FP4", np.hstack([scale.view(np.uint8), high_first(bits)]), q.astype(F) * scale)


def nvfp4(x):
    tensor = np.abs(x).max() / F(6 * 448)
    g = (x / tensor).reshape(-1, 16)
    scale = (np.abs(g).max(1, keepdims=True) / F(6)).astype(ml_dtypes.float8_e4m3fn)
    levels = np.array([0, .5, 1, 1.5, 2, 3, 4, 6], F)
    s = scale.astype(F)
    distance = np.abs(levels.astype(np.float64) * s[..., None] - np.abs(g).astype(np.float64)[..., None])
    q = distance.argmin(-1)
    sign = (g < 0) & (q > 0)
    bits = (q + 8 * sign).astype(np.uint8)
    pairs = bits[:, :8] | bits[:, 8:] << 4
    n = len(g) // 4
    blocks = np.hstack([scale.view(np.uint8).reshape(n, 4), pairs.reshape(n, 32)])
    write("NVFP4", blocks, levels[q] * np.where(sign, -1, 1).astype(F) * s * tensor, [tensor])


def two_of_four(x):
    fours = x.reshape(-1, 4)
    kept = np.sort(np.argsort(-np.abs(fours), axis=1, kind="stable")[:, :2], axis=1)
    values = np.take_along_axis(fours, kept, 1).astype(np.float16)
    sparse = np.zeros_like(fours)
    np.put_along_axis(sparse, kept, values.astype(F), 1)
    bits = np.zeros(len(fours) // 8, np.uint32)
    for i, place in enumerate(kept.reshape(-1, 16).T):
        bits |= place.astype(np.uint32) << np.uint32(2 * i)
    write("F16_2OF4", np.hstack([values.reshape(-1, 16).view(np.uint8), bits[:, None].view(np.uint8)]), sparse)


x = source(2)
whole = np.abs(x).max() / F(127)
write("INT8_TENSOR", int8(x, whole), int8(x, whole).astype(F) * whole, [whole])
rows = np.abs(x).max(1, keepdims=True) / F(127)
write("INT8_ROW", int8(x, rows), int8(x, rows).astype(F) * rows, rows)
for size in (32, 64, 128):
    int8_groups(f"INT8_G{size}", x, size)
fp8("FP8_E4M3", x, ml_dtypes.float8_e4m3fn, 448)
fp8("FP8_E5M2", x, ml_dtypes.float8_e5m2, 57344)
nf4(x)
nf4_dq(source(26))
fp4(x)
nvfp4(x)
two_of_four(x)
