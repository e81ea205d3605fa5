"""Prometheus takes our configuration, alerts fire when they should, and no panel is empty."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.prometheus import board_queries, missing, promtool, with_targets

FOLDER = Path(__file__).parents[2] / "deploy" / "monitoring"
BOARD = json.loads((FOLDER / "board.json").read_text())
CONFIGS = ("prometheus.yml", "kubernetes.yml")
RULES = yaml.safe_load((FOLDER / "rules.yml").read_text())["groups"][0]["rules"]
TARGETS = {"gangsaw-scheduler": ["127.0.0.1:1"], "gangsaw-worker": ["127.0.0.1:2"]}


@pytest.fixture
def tool() -> None:
    if why := missing("promtool"):
        pytest.skip(why)


def test_prometheus_takes_the_configuration_of_compose(tool: None) -> None:
    assert "7 rules found" in promtool("check", "config", CONFIGS[0], folder=FOLDER)


@pytest.mark.parametrize("name", CONFIGS)
def test_prometheus_takes_all_of_a_configuration_but_where_it_finds_targets(
    tool: None, tmp_path: Path, name: str
) -> None:
    """Debian's cannot ask Kubernetes for them."""
    config = with_targets(yaml.safe_load((FOLDER / name).read_text()), TARGETS)
    (tmp_path / "rules.yml").write_text((FOLDER / "rules.yml").read_text())
    (tmp_path / name).write_text(yaml.safe_dump(config))
    promtool("check", "config", name, folder=tmp_path)


def test_alerts_fire_when_they_should_and_only_then(tool: None) -> None:
    promtool("test", "rules", "rules.test.yml", folder=FOLDER)


def test_each_alert_has_a_test_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    tests = yaml.safe_load((FOLDER / "rules.test.yml").read_text())["tests"]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    for rule in RULES:
        own = [case for case in cases if case["alertname"] == rule["alert"]]
        assert {bool(case.get("exp_alerts")) for case in own} == {True, False}, rule["alert"]


def test_each_alert_says_what_to_do() -> None:
    for rule in RULES:
        assert rule["alert"].startswith("Gangsaw")
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert rule["annotations"].keys() == {"summary", "action"}


def test_the_queries_of_the_board_are_promql(tool: None, tmp_path: Path) -> None:
    rules = [{"record": f"panel:{i}", "expr": q} for i, (_, q) in enumerate(board_queries(BOARD))]
    text = yaml.safe_dump({"groups": [{"name": "board", "rules": rules}]})
    (tmp_path / "board.yml").write_text(text)
    found = promtool("check", "rules", "board.yml", folder=tmp_path)
    assert f"{len(rules)} rules found" in found


def test_panels_say_what_they_show_and_do_not_overlap() -> None:
    panels = BOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        assert panel["title"]
        assert panel["description"].endswith(".")
        assert panel["datasource"]["uid"] == "${datasource}"
        assert panel["fieldConfig"]["defaults"]["unit"]
    assert not [(a["title"], b["title"]) for a, b in combinations(panels, 2) if overlap(a, b)]


def overlap(a: dict[str, Any], b: dict[str, Any]) -> bool:
    first, second = a["gridPos"], b["gridPos"]
    return all(
        first[at] < second[at] + second[size] and second[at] < first[at] + first[size]
        for at, size in (("x", "w"), ("y", "h"))
    )
