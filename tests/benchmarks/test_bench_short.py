"""The benchmark itself, in a minute: every subject runs, and its figures are whole."""

import math

import pytest

from tests.benchmarks import bench


@pytest.mark.alone
@pytest.mark.timeout(300)
def test_every_subject_runs_and_gives_figures() -> None:
    found = bench.run([], short=True)
    assert len(found) >= len(bench.SUBJECTS)
    for figures in found:
        assert figures.rows, figures.title
        for row in figures.rows:
            assert all(math.isfinite(cell) for cell in row if isinstance(cell, float)), (figures.title, row)
