"""Pictures and grids: fractals, filters, the game of life, waves."""

import numpy as np

from kernels import cuda, float32
from tests.microscope.learners.cases import learner, whole


def escapes(c, z, most=30):
    """Steps that z² + c takes to leave the circle of radius 2."""
    steps = np.full(c.shape, most)
    z = np.broadcast_to(z, c.shape).astype(complex)
    for k in range(most):
        inside = np.abs(z) <= 2
        steps = np.where(~inside & (steps == most), k, steps)
        z = np.where(inside, z * z + c, z)
    return steps


@learner((3, 3), (8, 8))
def mandelbrot_with_two_floats():
    @cuda.jit(device=True)
    def mandel(x, y, max_iters):
        re, im = 0.0, 0.0
        for i in range(max_iters):
            if re * re + im * im > 4:
                return i
            re, im = re * re - im * im + x, 2 * re * im + y
        return max_iters

    @cuda.jit
    def kernel(image, left, top, step):
        col, row = cuda.grid(2)
        if row < image.shape[0] and col < image.shape[1]:
            image[row, col] = mandel(left + col * step, top + row * step, 30)

    image = np.zeros((20, 22), np.int32)
    rows, columns = np.mgrid[:20, :22]
    c = (-2 + columns * 0.125) + 1j * (-1.25 + rows * 0.125)
    return kernel, [image, -2.0, -1.25, 0.125], {0: escapes(c, 0)}


@learner((3, 3), (8, 8))
def julia_set_with_complex_numbers():
    @cuda.jit
    def kernel(image):
        x, y = cuda.grid(2)
        if x < image.shape[1] and y < image.shape[0]:
            z = complex(-1.5 + x * 0.125, -1.25 + y * 0.125)
            c = -0.75 + 0.125j
            n = 0
            while abs(z) <= 2 and n < 30:
                z = z * z + c
                n += 1
            image[y, x] = n

    image = np.zeros((20, 22), np.int32)
    rows, columns = np.mgrid[:20, :22]
    z = (-1.5 + columns * 0.125) + 1j * (-1.25 + rows * 0.125)
    return kernel, [image], {0: escapes(np.full(z.shape, -0.75 + 0.125j), z)}


@learner((2, 2), (8, 8))
def game_of_life_on_a_torus():
    @cuda.jit
    def kernel(old, new):
        x, y = cuda.grid(2)
        rows, cols = old.shape
        if x < cols and y < rows:
            alive = 0
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    if dx == 0 and dy == 0:
                        continue
                    alive += old[(y + dy) % rows, (x + dx) % cols]
            if alive == 3 or (old[y, x] and alive == 2):
                new[y, x] = 1
            else:
                new[y, x] = 0

    old = np.random.default_rng(8).integers(0, 2, (13, 15)).astype(np.int8)
    near = sum(np.roll(old, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy)
    return kernel, [old, np.zeros_like(old)], {1: (near == 3) | (old & (near == 2))}


@learner((2, 2), (8, 8))
def grey_from_colours():
    @cuda.jit
    def kernel(rgb, grey):
        x, y = cuda.grid(2)
        if y < grey.shape[0] and x < grey.shape[1]:
            r, g, b = rgb[y, x, 0], rgb[y, x, 1], rgb[y, x, 2]
            grey[y, x] = (r * 77 + g * 150 + b * 29) >> 8

    rgb = np.random.default_rng(9).integers(0, 256, (9, 12, 3)).astype(np.uint8)
    wanted = (rgb.astype(int) @ [77, 150, 29]) >> 8
    return kernel, [rgb, np.zeros((9, 12), np.uint8)], {1: wanted}


@learner((2, 2), (8, 8))
def blur_that_stops_at_the_edges():
    @cuda.jit
    def kernel(image, out, radius):
        x, y = cuda.grid(2)
        h, w = image.shape
        if x >= w or y >= h:
            return
        total, count = 0.0, 0
        for j in range(max(0, y - radius), min(h, y + radius + 1)):
            for i in range(max(0, x - radius), min(w, x + radius + 1)):
                total += image[j, i]
                count += 1
        out[y, x] = total / count

    image = whole(10, 13, dtype=np.float64)
    wanted = np.array(
        [
            [image[max(0, y - 1) : y + 2, max(0, x - 1) : x + 2].mean() for x in range(13)]
            for y in range(10)
        ]
    )
    return kernel, [image, np.zeros((10, 13)), 1], {1: wanted}


@learner((2, 2), (8, 8))
def edges_of_a_picture():
    across = ((-1, 0, 1), (-2, 0, 2), (-1, 0, 1))

    @cuda.jit
    def kernel(image, out):
        x, y = cuda.grid(2)
        if 0 < x < image.shape[1] - 1 and 0 < y < image.shape[0] - 1:
            gx = 0
            gy = 0
            for j in range(3):
                for i in range(3):
                    v = image[y + j - 1, x + i - 1]
                    gx += across[j][i] * v
                    gy += across[i][j] * v
            out[y, x] = abs(gx) + abs(gy)

    image = whole(10, 13, dtype=np.int32)
    wanted = np.zeros((10, 13))
    f = np.array(across)
    for y in range(1, 9):
        for x in range(1, 12):
            part = image[y - 1 : y + 2, x - 1 : x + 2]
            wanted[y, x] = abs((part * f).sum()) + abs((part * f.T).sum())
    return kernel, [image, np.zeros((10, 13), np.int32)], {1: wanted}


@learner((2, 2), (8, 8))
def picture_turned_upside_down():
    @cuda.jit
    def kernel(image, out):
        x, y = cuda.grid(2)
        if x < image.shape[1] and y < image.shape[0]:
            out[-1 - y, x] = image[y, x]

    image = whole(9, 12)
    return kernel, [image, np.zeros_like(image)], {1: image[::-1]}


@learner(2, 16)
def row_backwards_with_a_slice():
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        backwards = a[::-1]
        if i < a.size:
            out[i] = backwards[i]

    a = whole(30)
    return kernel, [a, np.zeros_like(a)], {1: a[::-1]}


@learner((2, 2), (8, 8))
def five_point_stencil_in_shared_memory():
    size = 8
    edged = size + 2

    @cuda.jit
    def kernel(u, out):
        s = cuda.shared.array((edged, edged), float32)
        x, y = cuda.grid(2)
        h, w = u.shape
        tx, ty = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
        if x < w and y < h:
            s[ty, tx] = u[y, x]
            if tx == 1:
                s[ty, 0] = u[y, x - 1] if x > 0 else 0
            if tx == size or x == w - 1:
                s[ty, tx + 1] = u[y, x + 1] if x < w - 1 else 0
            if ty == 1:
                s[0, tx] = u[y - 1, x] if y > 0 else 0
            if ty == size or y == h - 1:
                s[ty + 1, tx] = u[y + 1, x] if y < h - 1 else 0
        cuda.syncthreads()
        if x < w and y < h:
            out[y, x] = (
                s[ty, tx - 1] + s[ty, tx + 1] + s[ty - 1, tx] + s[ty + 1, tx] - 4 * s[ty, tx]
            )

    u = whole(12, 14)
    p = np.pad(u, 1)
    wanted = p[1:-1, :-2] + p[1:-1, 2:] + p[:-2, 1:-1] + p[2:, 1:-1] - 4 * u
    return kernel, [u, np.zeros_like(u)], {1: wanted}


@learner(1, 64)
def wave_on_a_string():
    @cuda.jit
    def kernel(before, now, steps):
        i = cuda.threadIdx.x
        n = now.size
        for _ in range(steps):
            v = 0.0
            if 0 < i < n - 1:
                v = 2 * now[i] - before[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1])
            cuda.syncthreads()
            if i < n:
                before[i] = now[i]
                now[i] = v
            cuda.syncthreads()

    u = np.zeros(40)
    u[10:15] = 8
    before, now = u.copy(), u.copy()
    for _ in range(6):
        v = np.zeros(40)
        v[1:-1] = 2 * now[1:-1] - before[1:-1] + 0.25 * np.diff(now, 2)
        before, now = now, v
    return kernel, [u.copy(), u.copy(), 6], {0: before, 1: now}
