"""Code mark: by which a run knows whether a study's own code is still what it began with."""

from hashlib import sha256
from pathlib import Path

from sweep.records import Study
from sweep.spec.recipe import RecipeSpec

OWN_CODE = "own_code"
"""Among the versions of a study: the first digits of the SHA-256 of its own files."""
_DIGITS = 12


def code_mark(recipe: RecipeSpec) -> dict[str, str]:
    """The mark by its name among the versions; nothing where the study names no file of code.

    What the named files import is not looked at.
    """
    try:
        contents = [path.read_bytes() for path in _files(recipe)]
    except OSError:  # it is told where the code is loaded
        return {}
    return {OWN_CODE: sha256(b"\0".join(contents)).hexdigest()[:_DIGITS]} if contents else {}


def changed_code(study: Study, recipe: RecipeSpec) -> str | None:
    """What to say where the code is another than when the study began; None where it is not."""
    before, now = study.versions.get(OWN_CODE), code_mark(recipe).get(OWN_CODE)
    if before is None or now is None or before == now:
        return None
    names = " and ".join(path.name for path in _files(recipe))
    return (
        f"{names} changed since the study began: its earlier trials ran other code; --name NAME "
        "begins another study"
    )


def _files(recipe: RecipeSpec) -> list[Path]:
    factory = None if recipe.model is None else recipe.model.factory
    references = (each.rpartition(":")[0] for each in (recipe.train, factory) if each is not None)
    return [Path(each) for each in references if each.endswith(".py")]
