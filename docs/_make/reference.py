"""Pages of the reference that are generated from the package before each build of the docs.

- `reference/commands/`: a page for each command, from its arguments, options and help text
- `reference/formats.md`, `codecs.md`, `extras.md`: tables from the entry points and pyproject.toml
- `reference/api/`: a page for each public module, from its `__all__`
- `reference/spec/`, `explanation/results/`, `project/`: pages that lie beside the code, with
  their relative links changed to links of the site

Three tables of the reference are committed, for links in a clone; a test compares them. The others
are not, so that none can differ from what the code does.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
# pages that lie beside the code, by the page of the site that shows them
SHOWN = {
    "reference/spec/frame": "codecs/core/SPEC.md",
    **{
        f"reference/spec/{name}": f"codecs/{name}/SPEC.md"
        for name in (
            "bwt",
            "ccsds123",
            "dna",
            "integers",
            "reads",
            "scaled",
            "strings",
            "visibility",
        )
    },
    "reference/spec/search-index": "tasks/search/SPEC.md",
    "reference/spec/tcr-store": "tasks/tcr/SPEC.md",
    "reference/spec/radio": "tasks/radio/RADIO.md",
    "project/changelog": "CHANGELOG.md",
    "project/contributing": "CONTRIBUTING.md",
}
RESULTS = "explanation/results"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def write_pages(docs: Path) -> None:
    """Write all generated pages below the folder of the documentation."""
    _write_commands(docs / "reference" / "commands")
    _write_shown(docs)
    _write_api(docs / "reference" / "api")
    _write(docs / "reference" / "formats.md", "\n".join(_format_lines()))
    _write(docs / "reference" / "codecs.md", "\n".join(_codec_lines()))
    _write(docs / "reference" / "extras.md", "\n".join(_extra_lines()))


def _write(path: Path, text: str) -> None:
    """Write a page if it differs, so that Sphinx reads only changed pages again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = text.rstrip() + "\n"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table; `|` in cells is escaped."""
    lines = [list(head), ["---"] * len(head), *map(list, rows)]
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in lines]


# Commands


def commands() -> Iterator[tuple[str, Any]]:
    """Yield the full name of each command and the command, groups left out."""
    import typer

    from gangsaw.cli.app import app

    root: Any = typer.main.get_command(app)
    context = root.context_class(root, info_name="gangsaw")
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        if hasattr(command, "commands"):
            yield from ((f"{name} {inner}", each) for inner, each in command.commands.items())
        else:
            yield name, command


def _write_commands(folder: Path) -> None:
    """Write a page for each command, and the index of the pages."""
    names = []
    for name, command in commands():
        page = name.replace(" ", "-")
        names.append((page, name, command.help.split("\n\n")[0]))
        _write(folder / f"{page}.md", "\n".join(_command_lines(name, command)))
    wanted = {f"{page}.md" for page, _, _ in names}
    for path in folder.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    rows = [
        (f"[`gangsaw {name}`](commands/{page}.md)", " ".join(text.split()))
        for page, name, text in names
    ]
    lines = ["# Command line", "", *table(("command", "use"), rows), ""]
    lines += ["Exit codes: 0 done, 1 failure, 2 wrong use, 130 interrupted.", ""]
    lines += ["```{toctree}", ":hidden:", "", *(f"commands/{page}" for page, _, _ in names)]
    _write(folder.with_suffix(".md"), "\n".join([*lines, "```"]))  # `index` is a command


def _command_lines(name: str, command: Any) -> Iterator[str]:
    """Yield the lines of the page of a command."""
    context = command.context_class(command, info_name=f"gangsaw {name}")
    yield f"# gangsaw {name}"
    for part in command.help.strip().split("\n\n"):
        yield ""
        if part.startswith("Example"):
            yield from ("```sh", *_examples(part), "```")
        else:
            yield " ".join(part.split())
    usage = [*command.collect_usage_pieces(context)]
    yield from ("", "```text", f"gangsaw {name} {' '.join(usage)}", "```")
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    if arguments:
        rows = [(f"`{one.metavar or one.name.upper()}`", _help(one)) for one in arguments]
        yield from ("", "## Arguments", "", *table(("argument", "meaning"), rows))
    panels: dict[str, list[Any]] = {}
    for one in command.params:
        if one.param_type_name == "option" and not one.hidden:
            panels.setdefault(one.rich_help_panel or "Options", []).append(one)
    for panel, options in panels.items():
        yield from ("", f"## {panel}", "")
        yield from table(("option", "meaning"), [(_option(one), _help(one)) for one in options])


def _examples(part: str) -> Iterator[str]:
    """Yield the command lines of a paragraph "Example: ..." or "Examples: ..."."""
    text = re.sub(r"^Examples?:\s*", "", part)
    yield from (line.strip() for line in text.splitlines() if line.strip())


def _option(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    return names if option.is_flag else f"{names} `{option.metavar}`"


def _help(option: Any) -> str:
    return " ".join((option.help or "").split()).replace("<", "&lt;")


# Python

MODULES = {
    "gangsaw": "Stores: compress, verify, open, export",
    "gangsaw.xarray": "Accessor of xarray objects",
    "gangsaw.codecs": "Codecs for Zarr",
    "gangsaw.codecs.ccsds123": "CCSDS-123 streams and parameters",
    "gangsaw.codecs.visibility": "Visibilities step by step",
    "gangsaw.tasks.append": "Stores that grow",
    "gangsaw.reads": "Sequencing reads",
    "gangsaw.genomes": "Genomes",
    "gangsaw.align": "Alignment of sequences",
    "gangsaw.search": "Search in stores",
    "gangsaw.tcr": "T-cell-receptor recombination paths",
    "gangsaw.cluster": "Clusters",
}
LEFT_OUT = {"__version__"}


def public_names() -> dict[str, list[str]]:
    """Return the public names of each documented module, in the order of its `__all__`."""
    return {
        module: [name for name in import_module(module).__all__ if name not in LEFT_OUT]
        for module in MODULES
    }


def _write_api(folder: Path) -> None:
    """Write a page for each public module, and their index."""
    shown: dict[int, str] = {}  # page of each name, by its value
    for module, names in public_names().items():
        if module == "gangsaw.codecs":  # classes of Zarr v2 are derived from the others
            names = [name for name in names if not name.endswith("V2")]
        _write(folder / f"{module}.rst", "\n".join(_module_lines(module, names, shown)))
    rows = [(f"[`{module}`]({module}.rst)", title) for module, title in MODULES.items()]
    lines = ["# Python", "", *table(("module", "use"), rows), ""]
    lines += ["```{toctree}", ":hidden:", "", *MODULES, "```"]
    _write(folder / "index.md", "\n".join(lines))


def _module_lines(module: str, names: Sequence[str], shown: dict[int, str]) -> Iterator[str]:
    """Yield the lines of the page of a module: a table of its names, then each of them.

    What an earlier page shows is a link to it.
    """
    values = {name: getattr(import_module(module), name) for name in names}
    new = [name for name, value in values.items() if id(value) not in shown]
    yield from (module, "=" * len(module), "", f".. currentmodule:: {module}", "")
    yield from (f"{MODULES[module]}.", "", ".. autosummary::", "", *(f"   {name}" for name in new))
    for name, value in values.items():
        if name not in new:
            yield from ("", f"``{module}.{name}`` is :obj:`{shown[id(value)]}`.")
            continue
        shown[id(value)] = f"{module}.{name}"
        is_error = isinstance(value, type) and issubclass(value, BaseException)
        kind = "autoexception" if is_error else "autoclass" if isinstance(value, type) else None
        kind = kind or ("autofunction" if callable(value) else "autodata")
        yield from ("", f".. {kind}:: {name}")
        if kind == "autoclass":
            yield "   :members:"


# Tables of the entry points


def _format_lines() -> Iterator[str]:
    """Yield the page of formats: one row per entry point."""
    from gangsaw.tasks.formats.contract.table import formats, tabulate_formats

    yield from ("# Formats", "")
    yield "`--format NAME` names a format. Without it the content of a source decides, then its"
    yield "suffix. For a target the suffix decides. `gangsaw compress --dry-run` prints the choice."
    yield from ("", tabulate_formats(formats().values()))


def _codec_lines() -> Iterator[str]:
    """Yield the page of codecs: name in Zarr, options of the command line, and pages."""
    from gangsaw.codecs.core import codec_table

    yield from ("# Codecs", "")
    yield "Each codec is registered with Zarr under its name. Its options are options of"
    yield "`gangsaw compress` and keywords of `gangsaw.compress`."
    for name in codec_table.names():
        kind = codec_table.entry_of(name).attr
        short = name.removeprefix("gangsaw.")
        page = f"spec/{short}.md" if f"reference/spec/{short}" in SHOWN else ""
        yield from ("", f"## {name}", "")
        yield f"Class [`gangsaw.codecs.{kind}`](#gangsaw.codecs.{kind})" + (
            f", [format of its bytes]({page})." if page else "."
        )
        options = codec_table.capabilities_of(name).options
        if options:
            rows = [
                (f"`{each.flag}`", each.help, f"`{each.default}`" if each.default else "")
                for each in options
            ]
            yield from ("", *table(("option", "meaning", "default"), rows))


def _extra_lines() -> Iterator[str]:
    """Yield the page of extras: what each installs."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    yield from (
        "# Extras",
        "",
        "`pip install 'gangsaw[NAME,...]'` installs these packages, too.",
        "",
    )
    extras: Mapping[str, list[str]] = project["optional-dependencies"]
    rows = [(f"`{name}`", ", ".join(f"`{one}`" for one in needs)) for name, needs in extras.items()]
    yield from table(("extra", "packages"), rows)


# Pages that lie beside the code


def _write_shown(docs: Path) -> None:
    """Write the pages that lie beside the code, and the pages of results."""
    pages = dict(SHOWN)
    for path in sorted((REPOSITORY / "tests" / "benchmarks").glob("RESULTS*.md")):
        name = path.stem.removeprefix("RESULTS").removeprefix("-").lower() or "ccsds123"
        pages[f"{RESULTS}/{name}"] = str(path.relative_to(REPOSITORY))
    homes = {REPOSITORY / source: page for page, source in pages.items()}
    for page, source in pages.items():
        path = REPOSITORY / source
        _write(docs / f"{page}.md", _with_links(path, docs / page, docs, homes))
    for folder, title in (("reference/spec", "Stored bytes"), (RESULTS, "Results of benchmarks")):
        names = sorted(page.rpartition("/")[2] for page in pages if page.startswith(folder))
        _write(
            docs / folder / "index.md", "\n".join([f"# {title}", "", "```{toctree}", *names, "```"])
        )
    for picture in (REPOSITORY / "tests" / "benchmarks").glob("*.svg"):
        shutil.copy(picture, docs / RESULTS / picture.name)


def _with_links(path: Path, page: Path, docs: Path, homes: Mapping[Path, str]) -> str:
    """Return the text of a file; links to shown files lead to their pages, others become code."""

    def change(match: re.Match[str]) -> str:
        mark, text, target = match.groups()
        if "://" in target or target.startswith("#") or mark:
            return match.group()
        name, _, anchor = target.partition("#")
        home = homes.get((path.parent / name).resolve())
        if home is None:
            return text if "`" in text else f"`{text}`"
        up = "../" * len(page.relative_to(docs).parent.parts)
        return f"[{text}]({up}{home}.md{'#' + anchor if anchor else ''})"

    return LINK.sub(change, path.read_text())
