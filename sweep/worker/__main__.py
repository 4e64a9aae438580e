"""Run the worker program: `python -m sweep.worker`, as the fleet starts it."""

from sweep.worker.program import main

if __name__ == "__main__":
    main()
