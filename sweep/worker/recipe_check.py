"""Recipe check: whether the functions of a user's own can be loaded; nothing is trained.

`python -m sweep.worker.recipe_check LIFELINE_FD RECIPE` says `loaded` as its last word. When not,
it exits with 2 and the reason on stdout.
"""

import os
import sys

from sweep.errors import SweepError
from sweep.worker.lifeline import start_guard

LOADED = "loaded"


def main() -> None:
    """Load the functions of the recipe in `sys.argv`; what they print goes to stderr."""
    start_guard(int(sys.argv[1]))
    from sweep.spec.recipe import RecipeSpec
    from sweep.training.factory import load_factory
    from sweep.training.function import load_train_function

    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    recipe = RecipeSpec.model_validate_json(sys.argv[2])
    try:
        load_train_function(recipe)
        if recipe.train is None and recipe.model is not None and recipe.model.factory is not None:
            load_factory(recipe.model.factory)
    except SweepError as error:
        answer.write(f"{error}\n")
        answer.close()
        sys.exit(error.exit_code)
    answer.write(f"{LOADED}\n")
    answer.close()


if __name__ == "__main__":
    main()
