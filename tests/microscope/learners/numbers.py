"""Numbers: series, primes, planets, finance, random walks."""

import math

import numpy as np

from kernels import cuda, float32, float64
from tests.microscope.learners.cases import learner, whole


@learner(4, 32)
def saxpy():
    @cuda.jit
    def kernel(a, x, y):
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if i < len(y):
            y[i] = a * x[i] + y[i]

    x, y = whole(100), whole(100, low=0)
    return kernel, [np.float32(2.5), x, y], {2: 2.5 * x + y}


@learner(4, 32)
def primes_by_trial():
    @cuda.jit
    def kernel(is_prime):
        n = cuda.grid(1)
        if n >= is_prime.size:
            return
        if n < 2:
            is_prime[n] = False
            return
        for d in range(2, int(math.sqrt(n)) + 1):
            if n % d == 0:
                is_prime[n] = False
                break
        else:
            is_prime[n] = True

    wanted = np.array([n > 1 and all(n % d for d in range(2, n)) for n in range(100)])
    return kernel, [np.zeros(100, np.bool_)], {0: wanted}


@learner(2, 32)
def steps_of_collatz():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < out.size:
            n = i + 1
            steps = 0
            while n != 1:
                n = n // 2 if n % 2 == 0 else 3 * n + 1
                steps += 1
            out[i] = steps

    def collatz(n):
        return 0 if n == 1 else 1 + collatz(n // 2 if n % 2 == 0 else 3 * n + 1)

    return kernel, [np.zeros(50, np.int32)], {0: np.array([collatz(i + 1) for i in range(50)])}


@learner(2, 32)
def greatest_common_divisor():
    @cuda.jit(device=True)
    def gcd(a, b):
        while b:
            a, b = b, a % b
        return a

    @cuda.jit
    def kernel(a, b, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = gcd(a[i], b=b[i])

    a, b = (np.random.default_rng(k).integers(1, 500, 50).astype(np.int32) for k in (1, 2))
    return kernel, [a, b, np.zeros(50, np.int32)], {2: np.gcd(a, b)}


@cuda.jit("int64(int64)", device=True)
def fib(n):
    if n <= 1:
        return n
    return fib(n - 1) + fib(n - 2)


@learner(1, 32)
def fibonacci_by_recursion():
    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        if i < out.size:
            out[i] = fib(i)

    return kernel, [np.zeros(10, np.int64)], {0: np.array([0, 1, 1, 2, 3, 5, 8, 13, 21, 34])}


@learner(2, 16)
def bodies_that_attract_each_other():
    @cuda.jit
    def kernel(pos, mass, acc):
        i = cuda.grid(1)
        n = pos.shape[0]
        if i < n:
            ax = ay = az = 0.0
            for j in range(n):
                dx = pos[j, 0] - pos[i, 0]
                dy = pos[j, 1] - pos[i, 1]
                dz = pos[j, 2] - pos[i, 2]
                r2 = dx * dx + dy * dy + dz * dz + 0.01
                inv = 1.0 / (r2 * math.sqrt(r2))
                ax += mass[j] * dx * inv
                ay += mass[j] * dy * inv
                az += mass[j] * dz * inv
            acc[i, 0] = ax
            acc[i, 1] = ay
            acc[i, 2] = az

    r = np.random.default_rng(6)
    pos, mass = r.random((20, 3)), r.random(20)
    d = pos[None] - pos[:, None]
    r2 = (d**2).sum(axis=2) + 0.01
    wanted = (mass[None, :, None] * d / r2[..., None] ** 1.5).sum(axis=1)
    return kernel, [pos, mass, np.zeros((20, 3))], {2: wanted}


@learner(2, 32)
def square_roots_by_newton():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            guess = x[i] / 2 + 0.5
            while abs(guess * guess - x[i]) > 1e-12 * x[i]:
                guess = (guess + x[i] / guess) / 2
            out[i] = guess

    x = np.random.default_rng(7).random(50) * 100
    return kernel, [x, np.zeros(50)], {1: np.sqrt(x)}


@learner(2, 32)
def price_of_options():
    @cuda.jit(device=True)
    def cnd(d):
        return 0.5 * math.erfc(-d / math.sqrt(2.0))

    @cuda.jit
    def kernel(call, put, price, strike, years, rate, volatility):
        i = cuda.grid(1)
        if i >= price.shape[0]:
            return
        root = math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (rate + 0.5 * volatility**2) * years[i]) / (
            volatility * root
        )
        d2 = d1 - volatility * root
        later = strike[i] * math.exp(-rate * years[i])
        call[i] = price[i] * cnd(d1) - later * cnd(d2)
        put[i] = later * cnd(-d2) - price[i] * cnd(-d1)

    r = np.random.default_rng(8)
    price, strike, years = (r.uniform(low, high, 40) for low, high in ((5, 30), (5, 30), (0.5, 5)))
    d1 = (np.log(price / strike) + (0.02 + 0.045) * years) / (0.3 * np.sqrt(years))
    normal = np.vectorize(lambda d: 0.5 * math.erfc(-d / math.sqrt(2)))
    later = strike * np.exp(-0.02 * years)
    call = price * normal(d1) - later * normal(d1 - 0.3 * np.sqrt(years))
    given = [np.zeros(40), np.zeros(40), price, strike, years, 0.02, 0.3]
    return kernel, given, {0: call, 1: call - price + later}


@learner(1, 16)
def discrete_fourier_transform():
    @cuda.jit
    def kernel(x, out):
        k = cuda.threadIdx.x
        n = x.size
        acc = 0j
        for j in range(n):
            angle = -2 * math.pi * k * j / n
            acc += x[j] * complex(math.cos(angle), math.sin(angle))
        out[k] = acc

    x = np.random.default_rng(9).random(16)
    return kernel, [x, np.zeros(16, np.complex128)], {1: np.fft.fft(x)}


@learner(2, 32)
def logistic_map():
    @cuda.jit
    def kernel(r, out):
        i = cuda.grid(1)
        if i < r.size:
            x = float64(0.5)
            for _ in range(20):
                x = r[i] * x * (1 - x)
            out[i] = x

    r = np.linspace(1, 3, 40)
    x = np.full(40, 0.5)
    for _ in range(20):
        x = r * x * (1 - x)
    return kernel, [r, np.zeros(40)], {1: x}


@learner(2, 32)
def pi_as_an_integral():
    @cuda.jit
    def kernel(n, out):
        i = cuda.grid(1)
        step = 1.0 / n
        total = 0.0
        k = i
        while k < n:
            x = (k + 0.5) * step
            total += 4.0 / (1.0 + x * x)
            k += cuda.gridsize(1)
        cuda.atomic.add(out, 0, total * step)

    x = (np.arange(500) + 0.5) / 500
    return kernel, [500, np.zeros(1)], {1: np.array([(4 / (1 + x * x)).mean()])}


@learner(1, 32)
def fast_inverse_root_by_its_bits():
    @cuda.jit
    def kernel(x, out):
        i = cuda.threadIdx.x
        if i < x.size:
            y = x[i]
            bits = np.int32(0x5F3759DF) - (y.view(np.int32) >> 1)
            guess = np.int32(bits).view(np.float32)
            for _ in range(4):
                guess = guess * (float32(1.5) - float32(0.5) * y * guess * guess)
            out[i] = guess

    x = np.linspace(0.5, 20, 20).astype(np.float32)
    return kernel, [x, np.zeros(20, np.float32)], {1: 1 / np.sqrt(x)}


@learner(2, 32)
def clipped_and_scaled_in_place():
    mode = "relu"

    @cuda.jit
    def kernel(a, scale):
        i = cuda.grid(1)
        if i < a.size:
            if mode == "relu":
                a[i] = max(a[i], 0) * scale
            else:
                a[i] = a[i] * scale

    a = whole(50)
    return kernel, [a, 2], {0: np.maximum(a, 0) * 2}
