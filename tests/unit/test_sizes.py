"""Sizes in the unit that fits them."""

import pytest

from sweep.sizes import show_size


@pytest.mark.parametrize(
    ("num_bytes", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1024, "1.00 KiB"),
        (20 * 2**20, "20.0 MiB"),
        (512 * 2**20, "512 MiB"),
        (3 * 2**29, "1.50 GiB"),
        (5000 * 2**40, "5000 TiB"),
    ],
)
def test_a_size_is_shown_in_the_largest_unit_that_it_fills(num_bytes: int, text: str) -> None:
    assert show_size(num_bytes) == text
