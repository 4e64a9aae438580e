"""A log is read as a terminal would leave it, and obeyed by nothing."""

import pytest

from sweep.views.log_text import readable


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        (b"plain\nlines\n", "plain\nlines\n"),
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b]0;title\x07after", "after"),
        (b"\x1b]8;;http://x\x1b\\link", "link"),
        (b" 10%\r 50%\r100%\n", "100%\n"),
        (b" 10%\r", " 10%"),
        (b"dos\r\nline\r\n", "dos\nline\n"),
        (b"bell\x07 back\x08 nul\x00", "bell back nul"),
        ("开始 \u202eabc".encode(), "开始 \u202eabc"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"tab\tstays", "tab\tstays"),
        (b"", ""),
    ],
)
def test_a_log_reads_as_a_terminal_would_leave_it(printed, read):
    assert readable(printed) == read
