"""Page /gangsaw of Dask's dashboard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bokeh.document import Document
from bokeh.models import CustomJS, Div, InlineStyleSheet
from distributed.dashboard.components.scheduler import env
from distributed.dashboard.core import BokehApplication
from distributed.dashboard.scheduler import template_variables
from tornado.ioloop import IOLoop

from gangsaw.cluster.dashboard.charts import ChunkMapChart, ThroughputCurve
from gangsaw.cluster.dashboard.figures import names_of
from gangsaw.cluster.dashboard.html import chosen_job, jobs_table, parts_tables, summary
from gangsaw.cluster.dashboard.jobs import Jobs, JobState

if TYPE_CHECKING:
    from distributed import Scheduler

PAGE = "gangsaw"
BEFORE = "info"  # entry of Dask's navigation that follows ours
LOOK_MILLISECONDS = 1000  # between two updates
HERE = Path(__file__).parent
# hides the details of a job if there is none
EMPTY = 'document.getElementById("gangsaw").classList.toggle("empty", cb_obj.text == "")'


def add_page(scheduler: Scheduler, jobs: Jobs, prefix: str) -> None:
    """Serve the page of jobs, and add it to the navigation of Dask's dashboard.

    Parameters
    ----------
    prefix : prefix of all page paths
    """
    variables = template_variables(scheduler)
    pages: list[str] = variables["pages"]
    if PAGE in pages:
        return
    pages.insert(pages.index(BEFORE) if BEFORE in pages else len(pages), PAGE)

    def page(_: object, extra: dict[str, object], document: Document) -> None:
        _JobsPage(scheduler, jobs, document).begin(extra)

    app = BokehApplication(
        {f"/{PAGE}": page}, scheduler, prefix=prefix, template_variables=variables
    )
    scheduler.http_application.add_application(app)
    app.initialize(IOLoop.current())
    app.start()


class _JobsPage:
    """Page of jobs in one browser session."""

    def __init__(self, scheduler: Scheduler, jobs: Jobs, document: Document) -> None:
        self.scheduler, self.jobs, self.document = scheduler, jobs, document
        arguments = document.session_context.request.arguments
        self.asked = arguments.get("job", [b""])[0].decode(errors="replace")
        style = InlineStyleSheet(css=(HERE / "parts.css").read_text(encoding="utf-8"))
        names = ("summary", "jobs", "chosen", "parts")
        self.texts = {
            name: Div(name=name, stylesheets=[style], sizing_mode="stretch_width") for name in names
        }
        self.curve, self.map = ThroughputCurve(), ChunkMapChart()
        self.shown: tuple[str, float] | None = None  # drawn job, and time of its last message

    def begin(self, extra: dict[str, object]) -> None:
        """Build the page, and update it periodically."""
        self.update()
        for root in (*self.texts.values(), self.curve.root, self.map.root):
            self.document.add_root(root)
        self.document.title = "Dask: Gangsaw"
        self.document.template = env.from_string((HERE / "page.html").read_text(encoding="utf-8"))
        css = (HERE / "page.css").read_text(encoding="utf-8")
        state = "" if self.texts["chosen"].text else "empty"
        self.document.template_variables.update(extra, css=css, state=state)
        self.texts["chosen"].js_on_change("text", CustomJS(code=EMPTY))
        self.document.add_periodic_callback(self.update, LOOK_MILLISECONDS)

    def update(self) -> None:
        """Update the texts and charts that changed since the last call; others are not sent."""
        jobs = self.jobs.newest_first
        chosen = self._chosen(jobs)
        texts = {
            "summary": summary(self.scheduler, jobs),
            "jobs": jobs_table(jobs, chosen, self.scheduler.address),
            "chosen": chosen_job(chosen),
            "parts": parts_tables(chosen, names_of(self.scheduler)),
        }
        for name, text in texts.items():
            if self.texts[name].text != text:
                self.texts[name].text = text
        shown = None if chosen is None else (chosen.job, chosen.last_message)
        if self.shown is None or shown != self.shown:
            self.curve.show(chosen)
            self.map.show(chosen)
            self.shown = shown

    def _chosen(self, jobs: list[JobState]) -> JobState | None:
        """Return the job that the page's address names, else the newest one."""
        return self.jobs.jobs.get(self.asked) or next(iter(jobs), None)
