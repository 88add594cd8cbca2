"""Launches that follow each other closely: programmatic dependent launch.

Where the host allows it (`kernels.host.follow`), blocks of the next launch move in as soon as
blocks of this one leave. Such a block may set up what it needs, but has to wait before it touches
global memory.

Source: NVIDIA, *PTX ISA*, section "griddepcontrol".
"""

from kernels.ptx.instruction import assembly

__all__ = ["griddepcontrol_launch_dependents", "griddepcontrol_wait"]


@assembly("griddepcontrol.launch_dependents;", least=(9, 0))
def griddepcontrol_launch_dependents():
    """Let the next launch begin where all blocks of this one have called it or left; sm_90."""


@assembly("griddepcontrol.wait;", least=(9, 0))
def griddepcontrol_wait():
    """Wait until the launches before are over and what they wrote is there; sm_90."""
