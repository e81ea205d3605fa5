"""A client names a page only where one is served."""

from __future__ import annotations

import pytest

from gangsaw.cluster.kinds import connect


@pytest.mark.full
@pytest.mark.parametrize("dashboard", [False, True])
def test_a_link_is_that_of_a_page(dashboard: bool) -> None:
    with connect("local", workers=1, threads=1, dashboard=dashboard) as client:
        assert bool(client.dashboard_link) == dashboard
        assert client.submit(sum, [1, 2]).result() == 3
