from kernels.host.follow import _on_device, _packed  # noqa: F401
from kernels.host.follow import prepared as launcher

__all__ = ["launcher"]
