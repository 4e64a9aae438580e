"""Own code: a study's train or model function, looked at in a process that may come to harm."""

import subprocess

from sweep.errors import TrainFunctionError
from sweep.exits import describe_end
from sweep.fleet.child import run_child
from sweep.spec.recipe import RecipeSpec

PATIENCE_S = 300
_LOADED = "loaded"  # its last word when all went well


def check_own_code(recipe: RecipeSpec) -> None:
    """Returns when the recipe's own functions can be loaded, or when it has none.

    Raises TrainFunctionError when one is missing, cannot be imported or has a wrong form.
    """
    if recipe.train is None and (recipe.model is None or recipe.model.factory is None):
        return
    try:
        done = run_child(
            "sweep.worker.recipe_check",
            recipe.model_dump_json(),
            patience_s=PATIENCE_S,
            CUDA_VISIBLE_DEVICES="",
        )
    except subprocess.TimeoutExpired as error:
        raise TrainFunctionError(
            f"the import of the study's own code took over {PATIENCE_S} s; "
            "do the long work inside the function"
        ) from error
    last_line = (done.stdout.strip().splitlines() or [""])[-1]
    if last_line != _LOADED:
        raise TrainFunctionError(last_line or _ended(recipe, done.returncode))


def _ended(recipe: RecipeSpec, returncode: int) -> str:
    names = [recipe.train, None if recipe.model is None else recipe.model.factory]
    files = " or ".join(name.rpartition(":")[0] for name in names if name is not None)
    return (
        f"the import of {files} ended the process: it {describe_end(returncode)}; "
        "import it in Python to see"
    )
