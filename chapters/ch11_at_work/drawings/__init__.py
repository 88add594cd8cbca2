"""The drawings of chapter 11 alone."""

from chapters.ch11_at_work.drawings.calls import call_costs, graph_of_calls
from chapters.ch11_at_work.drawings.gradients import gradients
from chapters.ch11_at_work.drawings.late_error import late_error
from chapters.ch11_at_work.drawings.speed_of_light import speed_of_light
from chapters.ch11_at_work.drawings.step import step_parts

__all__ = [
    "call_costs",
    "gradients",
    "graph_of_calls",
    "late_error",
    "speed_of_light",
    "step_parts",
]
