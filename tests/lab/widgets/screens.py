"""How much of a screen a widget takes."""

BAR = 56  #: pixels that the bar of the book takes of a screen


def height(shown) -> int:
    """The height of a mounted widget, in whole pixels."""
    return round(shown.page.locator(".tile-widget").bounding_box()["height"])
