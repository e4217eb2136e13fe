"""Draw the pictures of the README from the shipped data: `python -m benchmarks.make_pictures`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import vl_convert

import polars_binmetrics as bm

PICTURES = Path(__file__).with_name("pictures")
MODELS, LABEL = ["logistic", "boosting"], "visited_often"


def pictures() -> dict[str, Any]:
    """The charts that the README shows."""
    plot = bm.of(bm.load_example()).plot
    return {
        "roc": plot.roc(MODELS, LABEL, by="health"),
        "segments": plot.segments(MODELS, LABEL, by="health", metrics=["roc_auc", "brier"]),
        "threshold": plot.threshold(MODELS, LABEL),
    }


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for name, chart in pictures().items():
        svg = vl_convert.vegalite_to_svg(chart.to_dict())
        (PICTURES / f"{name}.svg").write_text(svg, encoding="utf-8")
