"""Compare page: one study with its figures, tables by each param, and trials."""

from collections.abc import Mapping

from sweep.dashboard.address import study_path, trial_path
from sweep.dashboard.answer import Answer
from sweep.dashboard.assets import PLOTLY, asset_path
from sweep.dashboard.cache import Glance
from sweep.dashboard.filter_form import form_markup
from sweep.dashboard.filters import Filter, options_of
from sweep.dashboard.layout import OPTUNA, live, whole_page
from sweep.dashboard.library import Part
from sweep.dashboard.overview import overview_markup
from sweep.dashboard.trials_table import Order, trials_markup
from sweep.records import Study
from sweep.views.chapter import Table
from sweep.views.columns import Kind
from sweep.views.display import one_line, shorten
from sweep.views.gallery import GALLERY
from sweep.views.markup import Markup, element, joined
from sweep.views.table_markup import table_markup
from sweep.views.tables import shown_kinds

_HALVES = ("lr", "optimizer", "curves", "history", "importance", "contour")
_MAX_NAME = 120
EXPORTS = ("trials", "epochs", "attempts")


def compare_page(glance: Glance, chosen: Filter, optuna_id: int | None) -> Answer:
    """The page; its figures and tables are fetched when it is open."""
    name = glance.study.name
    description = str(glance.study.spec.get("description") or "")
    return whole_page(
        name,
        element("h1", shorten(one_line(name), _MAX_NAME), title=one_line(name)),
        element("p", description, class_="soft") if description else "",
        live(study_path(name, "overview"), overview_markup(glance)),
        _downloads(name, optuna_id),
        form_markup(options_of(glance.outline), chosen),
        element("div", *(figure_frame(name, kind.name, kind.title) for kind in GALLERY),
                id="figures"),
        live(study_path(name, "tables")),
        drawing_scripts(),
        poll=study_path(name, "state.json"),
        study=study_path(name),
    )  # fmt: skip


def figure_frame(study: str, name: str, title: str, query: str = "") -> Markup:
    """Where a figure will be drawn once it is in sight."""
    caption = element("figcaption", element("strong", title))
    plot = element("div", class_="plot")
    path = study_path(study, "figures", name) + query
    half = "half" if name in _HALVES else "full"
    return element("figure", caption, plot, data_figure=path, class_=half, id=f"figure-{name}")


def drawing_scripts() -> Markup:
    """The library that draws, and what tells it what to draw."""
    return joined(
        [element("script", src=asset_path(name), defer="") for name in (PLOTLY, "figures.js")]
    )


def _downloads(name: str, optuna_id: int | None) -> Markup:
    links = [
        element("a", f"{table}.csv", href=f"{study_path(name, 'export.csv')}?table={table}")
        for table in EXPORTS
    ]
    optuna = f"{OPTUNA}/studies/{optuna_id}"
    more = [] if optuna_id is None else [element("a", "in Optuna's dashboard", href=optuna)]
    return element("p", "Download", *links, *more, class_="links")


def tables_markup(part: Part, order: Order) -> Markup:
    """The tables by each param, then the trials, all of what the filter leaves."""
    study = part.snapshot.study
    kinds = shown_kinds([part.snapshot])
    return joined(
        [
            *(_table(study, table, kinds) for table in part.by_param),
            element("h2", "Trials", id="trials"),
            trials_markup(study, part.trials, kinds, order),
        ]
    )


def _table(study: Study, table: Table, kinds: Mapping[str, Kind]) -> Markup:
    links = {"best_trial": lambda cell: trial_path(study.name, cell)}
    return joined(
        [
            element("h2", table.title),
            element("p", table.note, class_="soft"),
            table_markup(table.frame, kinds, links=links),
        ]
    )
