"""A look at torch and the devices, in a process of its own: the asking one never loads torch."""

import json
import sys

from sweep.worker.lifeline import start_guard


def main() -> None:
    """Write what there is to stdout, as one JSON object."""
    start_guard(int(sys.argv[1]))
    from sweep.training.device import devices_seen

    sys.stdout.write(json.dumps(devices_seen()) + "\n")


if __name__ == "__main__":
    main()
