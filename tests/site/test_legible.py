"""Pictures keep their letters legible where a page is narrow."""

import pytest
from bs4 import BeautifulSoup
from pages import legible


@pytest.mark.parametrize(("letters", "least"), [((9, 12), 323), ((6, 9), 432), ((), 323)])
def test_a_picture_shrinks_no_further_than_its_smallest_letters_allow(letters, least):
    words = "".join(f'<text style="font-size: {size}px">word</text>' for size in letters)
    drawn = f'<svg style="width:100%;--least:323px" viewBox="0 0 345.6 216">{words}</svg>'
    body = BeautifulSoup(f'<div><figure class="drawn">{drawn}</figure></div>', "html.parser")
    legible.dress(body)
    assert body.svg["style"] == f"width:100%;--least:{least}px"


def test_a_picture_that_never_shrinks_is_left_alone():
    body = BeautifulSoup(
        '<figure class="drawn"><svg style="width:9px"></svg></figure>', "html.parser"
    )
    legible.dress(body)
    assert body.svg["style"] == "width:9px"
