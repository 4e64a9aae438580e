"""A diagnosis on stdout: a line for each thing that was looked at, or that is wrong."""

import json
from collections.abc import Sequence
from typing import Any

from sweep.cli.console import offer, tell
from sweep.cli.planning import place_of_runs
from sweep.cli.studies import storage_url, stored, stored_study, study_flag
from sweep.coordinator.checkup import Check, Grade, check_up
from sweep.coordinator.consistency import check_consistency
from sweep.coordinator.findings import Finding
from sweep.coordinator.folders import study_folder
from sweep.coordinator.holder import living_lease
from sweep.coordinator.inspection import inspect
from sweep.errors import UnusableError
from sweep.views.display import one_line, show_count

_FAULT_CODE = UnusableError.exit_code


def examined(storage: str | None, run_dir: str | None, *, as_json: bool) -> int:
    """This machine is examined; the exit code that says whether there is a fault."""
    checks = check_up(storage_url(storage), place_of_runs(run_dir))
    offer(_json([_check_object(each) for each in checks]) if as_json else _checks_text(checks))
    return _FAULT_CODE if any(each.grade is Grade.FAULT for each in checks) else 0


def examined_study(
    name: str, storage: str | None, run_dir: str | None, *, fix: bool, as_json: bool
) -> int:
    """What is stored of the study is examined, with `fix` repaired; the exit code."""
    with stored(storage) as store:
        study = stored_study(store, name)
        folder = study_folder(place_of_runs(run_dir), study.name, storage_url(storage))
        if fix:
            from sweep.coordinator.repair import repair

            found, left = repair(store, study, folder)
        else:
            is_led = living_lease(store, study) is not None
            if is_led:
                tell("the study runs: its open trials and checkpoints were not looked at")
            found = left = check_consistency(inspect(store, study, folder, is_led=is_led))
        num_trials, flag = len(store.trials(study.id)), store.flag
    if as_json:
        offer(_json([_finding_object(each, left) for each in found]))
    else:
        command = f"sweep doctor {study_flag(study.name)}{flag} --fix"
        to_fix = None if fix else command
        offer(_findings_text(found, left, num_trials, study.name, to_fix=to_fix))
    return _FAULT_CODE if left else 0


def _checks_text(checks: Sequence[Check]) -> str:
    width = max(len(each.name) for each in checks)
    return "".join(
        f"{each.grade:<5}  {each.name:<{width}}  {one_line(each.text)}\n" for each in checks
    )


def _findings_text(
    found: Sequence[Finding],
    left: Sequence[Finding],
    num_trials: int,
    name: str,
    *,
    to_fix: str | None,
) -> str:
    study = one_line(name)
    if not found:
        return f"study {study}: {show_count(num_trials, 'trial')}, nothing is wrong\n"
    lines = [f"{'repaired: ' if each not in left else ''}{one_line(str(each))}" for each in found]
    lines += [one_line(str(each)) for each in left if each not in found]
    if to_fix is not None and any(each.fault.is_repairable for each in found):
        lines.append(f"to repair what can be: {to_fix}")
    return "".join(f"{line}\n" for line in lines)


def _check_object(check: Check) -> dict[str, Any]:
    return {"check": check.name, "grade": check.grade.value, "text": check.text}


def _finding_object(finding: Finding, left: Sequence[Finding]) -> dict[str, Any]:
    return {
        "fault": finding.fault.value,
        "trial": finding.trial,
        "message": finding.message,
        "repairable": finding.fault.is_repairable,
        "repaired": finding not in left,
    }


def _json(objects: Sequence[dict[str, Any]]) -> str:
    return json.dumps(objects, ensure_ascii=False, indent=2) + "\n"
