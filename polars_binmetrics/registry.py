"""Where a metric is found: by name or as an object."""

from __future__ import annotations

import re
from collections.abc import Iterable
from inspect import cleandoc
from typing import TypeAlias

from polars.exceptions import DuplicateError

from polars_binmetrics import areas, probability, rates
from polars_binmetrics.metric import AnyMetric, CountMetric, Metric, RankMetric, RowMetric

IntoMetric: TypeAlias = str | Metric[...]

#: Every metric, under each of its names.
METRICS: dict[str, AnyMetric] = {
    name: getattr(module, name) for module in (rates, areas, probability) for name in module.__all__
}


def find(
    metrics: IntoMetric | Iterable[IntoMetric], *, argument: str = "metrics", least: int = 0
) -> list[AnyMetric]:
    """Metrics by name or as objects, each name once."""
    found: dict[str, AnyMetric] = {}
    for given in listed(metrics):
        metric = named(given, argument=argument) if isinstance(given, str) else given
        if not isinstance(metric, CountMetric | RowMetric | RankMetric):
            got = type(given).__name__
            raise TypeError(f"`{argument}` should be names or metrics, got {got}")
        try:
            metric.signature().bind(**metric.parameters)
        except TypeError as error:
            raise TypeError(f"`{argument}`: {metric.name!r}: {error}") from None
        if metric.name in found:
            raise DuplicateError(
                f"`{argument}`: {metric.name!r} is there twice; rename one,"
                f" for example bm.{metric.name}(...).alias('other')"
            )
        found[metric.name] = metric
    if len(found) < least:
        raise ValueError(f"`{argument}` should name at least {least}, got {len(found)}")
    return list(found.values())


def listed(metrics: IntoMetric | Iterable[IntoMetric]) -> Iterable[IntoMetric]:
    if isinstance(metrics, str | Metric) or not isinstance(metrics, Iterable):
        return [metrics]
    return metrics


def named(name: str, *, argument: str = "metrics") -> AnyMetric:
    """The metric of this name."""
    if name in METRICS:
        return METRICS[name]
    import difflib  # For errors only, so not at every start.

    plain, call, _ = name.lower().removesuffix("_score").partition("(")
    known = _meanings() | {each: each for each in METRICS}
    near = difflib.get_close_matches(plain, known)
    near = [known[plain]] if plain in known else [*dict.fromkeys(known[each] for each in near)]
    if call and plain in METRICS:
        hint = f"parameters are given to the object, as in bm.{name}"
    elif near:
        hint = f"did you mean {' or '.join(map(repr, near))}?"
    else:
        hint = f"known are {', '.join(sorted(METRICS))}"
    raise ValueError(f"`{argument}`: there is no metric {name!r}; {hint}")


def _meanings() -> dict[str, str]:
    """The shortest name of each metric that its documentation calls by a few words."""
    words = {
        name: meaning_of(METRICS[name]).lower().replace("-", " ").split()
        for name in sorted(METRICS, key=len, reverse=True)
    }
    return {"_".join(each): name for name, each in words.items() if len(each) < 7}


def meaning_of(metric: AnyMetric) -> str:
    """What a metric is, as its documentation begins."""
    first = cleandoc(metric.__doc__ or "").partition("\n\n")[0]
    return re.split(r"[.:](?=\s)", first + " ")[0].replace("\n", " ")


def of_counts(metric: AnyMetric, *, argument: str = "metrics") -> CountMetric[...]:
    """The metric, which is one of the counts."""
    if not isinstance(metric, CountMetric):
        raise ValueError(
            f"`{argument}`: {metric.name!r} is not of the counts; use `evaluate` on the rows"
        )
    return metric
