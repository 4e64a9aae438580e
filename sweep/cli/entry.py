"""The entry of the installed command: Ctrl-C ends it quietly from its first moment on."""

import signal


def main() -> None:
    """Run the command. While it loads its modules nobody could explain an interruption."""
    previous = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from sweep.cli.main import main as run

    signal.signal(signal.SIGINT, previous)
    run()
