"""Small ways to get a pipeline wrong, made from the text of `hopper_kernels`.

Each changes one place of one kernel; what the interpreter calls it is beside it. ``harmless`` ones
change nothing that can go wrong, and must stay silent.
"""

from dataclasses import dataclass
from pathlib import Path

from microscope.sites import Kind
from tests.microscope.cases import from_source
from tests.microscope.ptx.products import copied_case, persistent_case, specialized_case

KERNELS = Path(__file__).with_name("hopper_kernels.py")
SPECIALIZED, PERSISTENT, COPIED = "specialized", "persistent", "copied"
#: Arguments of the functions that make the kernels, small enough for tests.
SIZES = {SPECIALIZED: (128, 64, 2), PERSISTENT: (64, 128, 2), COPIED: ()}


@dataclass(frozen=True)
class Mutant:
    """One change.

    Attributes
    ----------
    kernel, name : str
    before, after : str
        What is replaced, once, in the kernel's text, and by what.
    kinds : tuple of str
        The kinds of problem of which one at least must be reported; none if it is harmless.
    """

    kernel: str
    name: str
    before: str
    after: str
    kinds: tuple[str, ...]

    @property
    def source(self) -> str:
        """The whole module with the change in it; lines stay where they are."""
        text = KERNELS.read_text(encoding="utf-8")
        start = text.index(f"def {self.kernel}(")
        end = text.find("@functools.cache", start)
        end = len(text) if end < 0 else end
        part = text[start:end]
        if part.count(self.before) != 1:
            raise ValueError(f"{self.kernel} has {part.count(self.before)} places {self.before!r}")
        return text[:start] + part.replace(self.before, self.after) + text[end:]

    def compiled(self):
        """The changed kernel."""
        module = from_source(self.source, f"{self.kernel}_{self.name}".replace(" ", "_"))
        return getattr(module, self.kernel)(*SIZES[self.kernel])

    def case(self):
        """Grid, block and arguments of a launch, and what C should be."""
        return case(self.kernel)


def case(kernel: str):
    """A launch of a kernel of `SIZES`: several rounds of its ring, sizes that do not divide."""
    if kernel == SPECIALIZED:
        return specialized_case(120, 72, 64 * 5 + 8, 128, 64)
    if kernel == PERSISTENT:
        return persistent_case(100, 136, 264)
    return copied_case(16, 8, 80)


RACES = (Kind.TOO_EARLY, Kind.OVERWRITTEN, Kind.UNINITIALISED)
STUCK = (Kind.DEADLOCK,)
LOST = (Kind.DEADLOCK, Kind.BYTES, Kind.TOO_EARLY)

FULL_WAIT = "ptx.mbarrier_wait_parity(full + uint32(8) * slot, parity)"
EMPTY_WAIT = "ptx.mbarrier_wait_parity(empty + uint32(8) * slot, parity ^ uint32(1))"
EXPECT = "ptx.mbarrier_arrive_expect_tx(arrived, STAGE)"
RELEASE = "ptx.mbarrier_arrive(empty + uint32(8) * previous)"
B_OF_WGMMA = "b = ptx.matrix_descriptor(sB + uint32(16 * 128 * k), PANEL)"
A_OF_WGMMA = "a = ptx.matrix_descriptor(sA + uint32(32 * k), 16)"

IN_BOTH = [
    ("full wait removed", FULL_WAIT, "pass", RACES),
    ("full parity flipped", FULL_WAIT, FULL_WAIT[:-1] + " ^ uint32(1))", RACES + STUCK),
    ("empty wait removed", EMPTY_WAIT, "pass", RACES + LOST),
    ("empty parity flipped", EMPTY_WAIT, EMPTY_WAIT.replace(" ^ uint32(1)", ""), STUCK),
    ("announcement removed", EXPECT, "pass", STUCK),
    ("arrival without bytes", EXPECT, "ptx.mbarrier_arrive(arrived)", LOST),
    ("a box of bytes too few", EXPECT, EXPECT.replace("STAGE", "STAGE - PANEL"), LOST),
    ("a box of bytes too many", EXPECT, EXPECT.replace("STAGE", "STAGE + PANEL"), STUCK),
    ("16 bytes too few", EXPECT, EXPECT.replace("STAGE", "STAGE - 16"), LOST),
    ("announced twice", EXPECT, f"{EXPECT}; {EXPECT}", LOST + (Kind.ARRIVALS,)),
    ("wgmma fence removed", "ptx.wgmma_fence()", "pass", (Kind.REGISTER_FENCE,)),
    ("commit removed", "ptx.wgmma_commit_group()", "pass", (Kind.COMMIT,)),
    ("last wait removed", "ptx.wgmma_wait_group(0, acc, ACC)", "pass", (Kind.ACCUMULATORS,)),
    ("last wait for all but one", "wgmma_wait_group(0, acc", "wgmma_wait_group(1, acc",
     (Kind.ACCUMULATORS,)),
    ("inner wait removed", "ptx.wgmma_wait_group(1, acc, ACC)", "pass", (Kind.OVERWRITTEN,)),
    ("inner wait for all but two", "wgmma_wait_group(1, acc", "wgmma_wait_group(2, acc",
     (Kind.OVERWRITTEN,)),
    ("barriers not shown", "ptx.fence_mbarrier_init()", "pass", (Kind.PROXY_FENCE,)),
    ("A a row further", A_OF_WGMMA, A_OF_WGMMA.replace("32 * k", "32 * k + 128"),
     (Kind.DESCRIPTOR,)),
    ("B a row further", B_OF_WGMMA, B_OF_WGMMA.replace("128 * k", "128 * k + 128"),
     (Kind.DESCRIPTOR,)),
    ("A of the next stage", A_OF_WGMMA, A_OF_WGMMA.replace("32 * k", "STAGE + 32 * k"),
     RACES + (Kind.DESCRIPTOR,)),
    ("full of the next stage", "full + uint32(8) * slot, parity)",
     "full + uint32(8) * ((slot + uint32(1)) % uint32(STAGES)), parity)", RACES + STUCK),
    ("memory not rounded up", " + uint32(1023)) & uint32(0xFFFFFC00)", ")",
     (Kind.MISALIGNED, Kind.DESCRIPTOR)),
    ("barriers count one more", "+ uint32(8 * slot), 1)", "+ uint32(8 * slot), 2)", STUCK),
]  # fmt: skip
#: Where the two kernels use other words.
OTHER_WORDS = {"barriers count one more": ("+ uint32(8 * s), 1)", "+ uint32(8 * s), 2)")}

ALONE = [
    (SPECIALIZED, "release removed", RELEASE, "pass", STUCK),
    (SPECIALIZED, "release of this step", "uint32(step - 1) % uint32(STAGES)",
     "uint32(step) % uint32(STAGES)", RACES + STUCK),
    (SPECIALIZED, "release from step 0", "if step > 0 and tid == 0:", "if tid == 0:",
     RACES + (Kind.ARRIVALS,)),
    (SPECIALIZED, "release by a warp", "if step > 0 and tid == 0:", "if step > 0 and tid < 32:",
     RACES + STUCK + (Kind.ARRIVALS,)),
    (SPECIALIZED, "release by one consumer", "if step > 0 and tid == 0:",
     "if step > 0 and tid == 0 and role == 1:", STUCK),
    (SPECIALIZED, "empty counts one consumer", "+ uint32(8 * slot), CONSUMERS)",
     "+ uint32(8 * slot), 1)", RACES + STUCK),
    (SPECIALIZED, "no barrier behind init", "cuda.syncthreads()", "pass", (Kind.NO_BARRIER,)),
    (SPECIALIZED, "all ask for copies", "            if tid == 0:\n                for step",
     "            if tid < 2:\n                for step", LOST + (Kind.ARRIVALS,)),
    (SPECIALIZED, "one panel is not loaded", "for panel in range(PANELS):",
     "for panel in range(PANELS - 1):", STUCK),
    (SPECIALIZED, "A is loaded over B", "sA + uint32(box", "sB + uint32(box",
     RACES + (Kind.WRITE_AFTER_WRITE,)),
    (SPECIALIZED, "a step too few", "if tid == 0:\n                for step in range(steps):",
     "if tid == 0:\n                for step in range(steps - 1):", STUCK),
    (SPECIALIZED, "sums never begun", "int32(step + k > 0)", "int32(1)", (Kind.UNINITIALISED,)),
    (SPECIALIZED, "adds late, harmless", "& uint32(0xFFFFFC00)", "& uint32(0xFFFFFC00) + uint32(0)",
     ()),
    (PERSISTENT, "release removed", "if step > 0 and tid < CLUSTER:",
     "if step > 0 and tid < 0:", STUCK),
    (PERSISTENT, "release at home only", "if step > 0 and tid < CLUSTER:",
     "if step > 0 and tid == rank:", STUCK),
    (PERSISTENT, "release of this step", "previous = slot\n", "previous = slot + uint32(1)\n",
     RACES + STUCK + (Kind.NO_BARRIER,)),
    (PERSISTENT, "last release removed",
     "ptx.wgmma_wait_group(0, acc, ACC)\n                if tid < CLUSTER:",
     "ptx.wgmma_wait_group(0, acc, ACC)\n                if tid < 0:", STUCK),
    (PERSISTENT, "empty counts one block", "+ uint32(8 * s), CLUSTER)", "+ uint32(8 * s), 1)",
     RACES + (Kind.ARRIVALS,)),
    (PERSISTENT, "proxy fence removed", "ptx.fence_proxy_async()", "pass", (Kind.PROXY_FENCE,)),
    (PERSISTENT, "store of the box before its barrier",
     "ptx.fence_proxy_async()\n                    ptx.bar_sync(1, 128)",
     "ptx.fence_proxy_async()\n                    pass",
     (Kind.READ_AFTER_WRITE, Kind.OVERWRITTEN)),
    (PERSISTENT, "box not waited for", "ptx.cp_async_bulk_wait_group_read(1)", "pass",
     (Kind.OVERWRITTEN,)),
    (PERSISTENT, "box waited for too late", "wait_group_read(1)", "wait_group_read(2)",
     (Kind.OVERWRITTEN,)),
    (PERSISTENT, "stores not closed", "ptx.cp_async_bulk_commit_group()", "pass",
     (Kind.OVERWRITTEN, Kind.BLOCK_LEFT)),
    (PERSISTENT, "stores not waited for at the end", "ptx.cp_async_bulk_wait_group_read(0)", "pass",
     (Kind.BLOCK_LEFT,)),
    (PERSISTENT, "no meeting at the end", "cuda.syncwarp()\n        ptx.cluster_sync()",
     "cuda.syncwarp()\n        pass", (Kind.BLOCK_LEFT,)),
    (PERSISTENT, "no meeting at the start", "ptx.cluster_sync()\n        down",
     "cuda.syncthreads()\n        down", (Kind.NO_BARRIER,)),
    (PERSISTENT, "multicast to one", "                                RANKS,\n",
     "                                1,\n", STUCK),
    (PERSISTENT, "both load the same panels", "panel = rank * SHARE + i", "panel = i",
     STUCK + RACES + (Kind.WRITE_AFTER_WRITE,)),
    (COPIED, "wait removed", "ptx.cp_async_wait_group(1)", "pass",
     (Kind.READ_AFTER_WRITE,)),
    (COPIED, "wait for all but two", "ptx.cp_async_wait_group(1)", "ptx.cp_async_wait_group(2)",
     (Kind.READ_AFTER_WRITE,)),
    (COPIED, "commit removed", "ptx.cp_async_commit_group()", "pass", (Kind.READ_AFTER_WRITE,)),
    (COPIED, "stage index off by one", "start + uint32((step - 1) % 2 * STAGE)",
     "start + uint32(step % 2 * STAGE)", (Kind.READ_AFTER_WRITE, Kind.UNINITIALISED)),
    (COPIED, "ldmatrix off by a row", "lane % 8 * 32 + lane // 8 % 2 * 16)",
     "lane % 8 * 32 + 32 + lane // 8 % 2 * 16)", RACES + (Kind.READ_AFTER_WRITE,
     Kind.OUT_OF_BOUNDS)),
]  # fmt: skip


def _all():
    for kernel in (SPECIALIZED, PERSISTENT):
        for name, before, after, kinds in IN_BOTH:
            if kernel == PERSISTENT and name in OTHER_WORDS:
                before, after = OTHER_WORDS[name]
            yield Mutant(kernel, name, before, after, kinds)
    yield from (Mutant(*one) for one in ALONE)


MUTANTS = list(_all())
