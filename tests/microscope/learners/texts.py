"""Bytes and bits: ciphers, letters, checksums."""

import numpy as np

from kernels import cuda, int32
from tests.microscope.learners.cases import learner

TEXT = np.frombuffer(b"the quick brown fox jumps over the lazy dog, twice", np.uint8)


@learner(2, 32)
def caesar_cipher():
    @cuda.jit
    def kernel(text, shift, out):
        i = cuda.grid(1)
        if i < text.size:
            c = text[i]
            if 97 <= c <= 122:
                out[i] = (c - 97 + shift) % 26 + 97
            else:
                out[i] = c

    letters = (TEXT >= 97) & (TEXT <= 122)
    wanted = np.where(letters, (TEXT.astype(int) - 97 + 3) % 26 + 97, TEXT)
    return kernel, [TEXT.copy(), 3, np.zeros_like(TEXT)], {2: wanted}


@learner(2, 32)
def letters_counted():
    @cuda.jit
    def kernel(text, counts):
        i = cuda.grid(1)
        if i < len(text):
            k = int32(text[i]) - 97
            if k >= 0 and k < 26:
                cuda.atomic.add(counts, k, 1)

    inside = TEXT[(TEXT >= 97) & (TEXT <= 122)]
    wanted = np.bincount(inside - 97, minlength=26)
    return kernel, [TEXT.copy(), np.zeros(26, np.int32)], {1: wanted}


@learner(1, 64)
def text_backwards():
    @cuda.jit
    def kernel(text):
        t = cuda.threadIdx.x
        n = text.size
        if t < n // 2:
            text[t], text[n - 1 - t] = text[n - 1 - t], text[t]

    return kernel, [TEXT.copy()], {0: TEXT[::-1]}


@learner(1, 64)
def words_found():
    @cuda.jit
    def kernel(text, word, found):
        i = cuda.grid(1)
        if i + word.size > text.size:
            return
        same = True
        for j, c in enumerate(word):
            if text[i + j] != c:
                same = False
                break
        if same:
            found[i] = 1

    wanted = np.zeros(TEXT.size, int)
    wanted[[k for k in range(TEXT.size) if bytes(TEXT[k : k + 3]) == b"the"]] = 1
    word = np.frombuffer(b"the", np.uint8).copy()
    return kernel, [TEXT.copy(), word, np.zeros(TEXT.size, np.int32)], {2: wanted}


@learner(2, 32)
def bits_and_parities():
    @cuda.jit
    def kernel(a, ones, parity):
        i = cuda.grid(1)
        if i < a.size:
            v = a[i]
            n = 0
            while v:
                n += v & 1
                v >>= 1
            ones[i] = n
            parity[i] = cuda.popc(a[i]) & 1

    a = np.arange(40, dtype=np.int32) * 37
    ones = np.bitwise_count(a)
    return kernel, [a, np.zeros(40, np.int32), np.zeros(40, np.int32)], {1: ones, 2: ones % 2}


@learner(1, 32)
def checksum_by_xor():
    @cuda.jit
    def kernel(text, out):
        t = cuda.threadIdx.x
        mine = 0
        for i in range(t, text.size, cuda.blockDim.x):
            mine ^= text[i]
        for offset in (16, 8, 4, 2, 1):
            mine ^= cuda.shfl_xor_sync(0xFFFFFFFF, mine, offset)
        if t == 0:
            out[0] = mine

    return (
        kernel,
        [TEXT.copy(), np.zeros(1, np.int32)],
        {1: np.array([np.bitwise_xor.reduce(TEXT)])},
    )
