"""Where segments are held against a reference: all rows, or one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isinf
from typing import TypeAlias, cast

import polars as pl

from polars_binmetrics.columns import Clean, IntoColumn, IntoColumns, clean
from polars_binmetrics.contrast import (
    RESULTS,
    SPREADS,
    a_row_a_metric,
    held_against,
    known,
    sides,
    z_score,
)
from polars_binmetrics.counts import CELLS
from polars_binmetrics.face import Frame, FrameFace, like
from polars_binmetrics.intervals import UNKNOWN, Bounds, IntoInterval, interval_of
from polars_binmetrics.metric import AnyMetric, CountMetric, RankMetric
from polars_binmetrics.placements import covariances
from polars_binmetrics.ranking import GROUP, middle, packed, ranked, with_middle
from polars_binmetrics.refusals import stopped
from polars_binmetrics.registry import IntoMetric, find
from polars_binmetrics.table import filled
from polars_binmetrics.tails import two_sided
from polars_binmetrics.thresholds import IntoModelThreshold, per_model
from polars_binmetrics.wording import documented

FIGURES = ["largest_gap", "ratio_of_extremes", "value", "reference_value", *RESULTS]
SIZES = ["n", "n_positive", "n_missing", "below_min_n", "is_reference"]
#: What the reference's columns end with.
OF_REFERENCE = " of reference"
ELSEWHERE = {cell: f"{cell} elsewhere" for cell in CELLS}
TRIALS = ["trials", "other_trials"]
ENDS = ["value_low", "value_high", "other_low", "other_high"]
OUTPUT = ["model", "metric", "threshold", *SIZES, *FIGURES]


@documented(
    reference="``'overall'``: all rows. ``'largest'``: the segment with the most rows. ``'best'``:"
    " for each metric the segment whose value is nearest to the metric's best. Any other value:"
    " the segment with this key; of several keys, or to name a key that is one of these words, a"
    " mapping, as ``{'region': 'north', 'year': 2025}``.",
    threshold="A number, or one a model, as ``{'a': 0.5, 'b': 0.3}``. A row is called positive when"
    " ``score >= threshold``.",
    interval="A level, or what `wilson`, `delong`, `bootstrap` and the like make: the interval of"
    " either value, from which that of the difference is made.",
    min_n="Segments of fewer rows are marked, and count neither as best or largest nor for the"
    " largest gap.",
)
def gaps(
    self: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    by: IntoColumns,
    *,
    metrics: IntoMetric | Iterable[IntoMetric],
    reference: object = "overall",
    threshold: IntoModelThreshold = 0.5,
    positive: object = None,
    strict: bool = False,
    interval: IntoInterval = 0.95,
    min_n: int = 1,
) -> Frame:
    """
    Compare segments with a reference: differences and ratios, with intervals and tests.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, metric, threshold, n, n_positive, n_missing, below_min_n, is_reference,
        largest_gap, ratio_of_extremes, value, reference_value, ratio, ratio_low, ratio_high,
        standard_error, z, difference, low, high, p_value]``, sorted by segment and model, the
        metrics in the order given. The difference is ``value - reference_value``, `low` and
        `high` are the ends of its interval, and `z` and `p_value` those of the two-sided test
        that there is none. `largest_gap` and `ratio_of_extremes` are the same in all segments of
        a model and metric: the largest value less the smallest, and the smallest over the
        largest. Figures are Float64; null where undefined, where the metric has no closed form,
        and where a row is at fault.

        The intervals of difference and ratio are made of those of the two values
        (square-and-add: of Wilson's, that of the difference is Newcombe's). A proportion is
        tested with the variance of both pooled; `roc_auc` and `gini` with the `standard_error` of
        DeLong, `brier` and `log_loss` with that of a mean, other metrics of the counts with that
        of the delta method. What is not spread at all, as an area of 1, has neither interval nor
        test. Two segments have no row in common; a segment and all rows have, which is taken into
        account. The rows are taken as drawn independently. The reference itself has no interval
        and no test.

    Notes
    -----
    One plan, which reads the rows once: that of `evaluate`, and again over all rows for the
    reference ``'overall'``, where an area takes two more sorts. Nothing is corrected for many
    comparisons: `holm` and `benjamini_hochberg` do that, for the family that you name.

    Source: R. Newcombe, Interval estimation for the difference between independent proportions:
    comparison of eleven methods, Statistics in Medicine 17, 1998; A. Donner and G. Zou,
    Closed-form confidence intervals for functions of the normal mean and standard deviation,
    Statistical Methods in Medical Research 21, 2012.

    Examples
    --------
    >>> df = pl.DataFrame(
    ...     {
    ...         "region": ["north"] * 4 + ["south"] * 6,
    ...         "y": [0, 0, 1, 1, 0, 0, 1, 1, 1, 1],
    ...         "score": [0.1, 0.6, 0.7, 0.9, 0.2, 0.4, 0.3, 0.6, 0.2, 0.8],
    ...     }
    ... )
    >>> table = df.binmetrics.gaps("score", "y", "region", metrics="recall", reference="best")
    >>> table.select("region", "value", "difference", "low", "high", "p_value", "largest_gap")
    shape: (2, 7)
    ┌────────┬───────┬────────────┬───────────┬──────────┬──────────┬─────────────┐
    │ region ┆ value ┆ difference ┆ low       ┆ high     ┆ p_value  ┆ largest_gap │
    │ ---    ┆ ---   ┆ ---        ┆ ---       ┆ ---      ┆ ---      ┆ ---         │
    │ str    ┆ f64   ┆ f64        ┆ f64       ┆ f64      ┆ f64      ┆ f64         │
    ╞════════╪═══════╪════════════╪═══════════╪══════════╪══════════╪═════════════╡
    │ north  ┆ 1.0   ┆ 0.0        ┆ null      ┆ null     ┆ null     ┆ 0.5         │
    │ south  ┆ 0.5   ┆ -0.5       ┆ -0.849961 ┆ 0.244941 ┆ 0.220671 ┆ 0.5         │
    └────────┴───────┴────────────┴───────────┴──────────┴──────────┴─────────────┘
    """
    chosen = find(metrics, least=1)
    drawn = interval_of(interval)
    if isinstance(min_n, bool) or not isinstance(min_n, int):
        raise TypeError(f"`min_n` should be an integer, got {min_n!r}")
    rows = clean(
        self.frame.lazy(),
        scores,
        label,
        by=by,
        weight=None,
        positive=positive,
        taken=OUTPUT,
    )
    if not rows.keys:
        raise ValueError("`by` should name at least one column")
    cuts = per_model(threshold, list(rows.models))
    by_segment = [*rows.keys.values(), "model"]
    # Under names that no other column has.
    inner = [metric.alias(f"metric {place}") for place, metric in enumerate(chosen)]
    merit = _merit(reference, rows, chosen, min_n)

    def table_of(rows: Clean) -> pl.LazyFrame:
        counted = any(isinstance(metric, CountMetric) for metric in chosen)
        spec = sorted(set(cuts.values())) if counted else None
        _, table = filled(rows, inner, spec, strict=strict, rollup=False, interval=drawn)
        if counted:
            own = [
                (pl.col("model") == model) & (pl.col("threshold") == cut)
                for model, cut in cuts.items()
            ]
            table = table.filter(pl.any_horizontal(own))
        return table.cache()

    segments = table_of(rows)
    whole = None if merit else table_of(rows._replace(keys={}))
    if whole is not None and any(_loss(metric) for metric in chosen):
        segments = _with_covariance(rows, segments)
    overlapping = whole is not None
    places = list(range(len(chosen)))
    parts: list[pl.LazyFrame] = []
    # The best segment is another one for each metric.
    for together in [[place] for place in places] if reference == "best" else [places]:
        table = _with_reference(segments, whole, merit and merit(inner[together[0]]))
        if any(isinstance(chosen[place], CountMetric) for place in together):
            table = _with_others(table, overlapping=overlapping)
        estimates = {
            inner[place].name: {"metric": pl.lit(chosen[place].name), "place": pl.lit(place)}
            | _estimates(inner[place], overlapping=overlapping)
            for place in together
        }
        kept = [*by_segment, "n", "n_positive", "n_missing", "is_reference"]
        parts.append(a_row_a_metric(table, kept, estimates))
    table = _finished(held_against(pl.concat(parts)), min_n, overlapping=overlapping)
    table = table.sort(*by_segment, "place").select(*by_segment, *OUTPUT[1:])
    return like(self.frame, rows.named(table))


Merit: TypeAlias = Callable[[AnyMetric], pl.Expr]


def _merit(
    reference: object, rows: Clean, metrics: Sequence[AnyMetric], min_n: int
) -> Merit | None:
    """
    Of what the reference has most, for a metric; None if the reference is all rows.

    It is null in segments that can't be the reference.
    """
    enough = pl.when(pl.col("n") >= min_n)

    def nearest_to_best(metric: AnyMetric) -> pl.Expr:
        value, best = pl.col(metric.name), metric.best
        return enough.then(value if best is None or isinf(best) else -(value - best).abs())

    if isinstance(reference, str) and reference == "overall":
        return None
    if isinstance(reference, str) and reference == "largest":
        return lambda _: enough.then("n")
    if isinstance(reference, str) and reference == "best":
        for metric in metrics:
            if metric.best is None:
                raise ValueError(f"`reference`: no value of {metric.name!r} is best")
        return nearest_to_best
    key = dict.fromkeys(list(rows.keys)[:1], reference)
    if isinstance(reference, Mapping):
        key = dict(cast(Mapping[str, object], reference))
    if set(key) != set(rows.keys):
        names = ", ".join(map(repr, rows.keys))
        raise ValueError(
            "`reference` should be 'overall', 'largest', 'best', or the key of a segment, a"
            f" mapping from {names}; got {reference!r}"
        )
    has_key = pl.all_horizontal(
        pl.col(ours).eq_missing(pl.lit(key[name])) for name, ours in rows.keys.items()
    )
    absent = ~has_key.any() & (pl.len() > 0)
    refusal = stopped(absent, f"no segment has the key {reference!r}", pl.Int64)
    return lambda _: pl.coalesce(refusal, pl.when(has_key).then(1))


def _loss(metric: AnyMetric) -> float | None:
    return metric.loss if isinstance(metric, RankMetric) else None


def _with_covariance(rows: Clean, segments: pl.LazyFrame) -> pl.LazyFrame:
    """The segments with the covariance of their losses and those among all rows."""
    keys, models = list(rows.keys.values()), sorted(rows.models)
    # Their own sizes, which are not null where a row is at fault.
    groups = ranked(rows, rollup=False).groups
    whole = ranked(rows._replace(keys={}), rollup=False).groups
    frame, base = with_middle(rows.frame, groups.filter(model=models[0]), keys)
    numbers = [
        frame.select(
            left=packed(base + i * GROUP, rows.of(model)),
            right=packed(middle(pl.lit(i)), rows.of(model)),
        )
        for i, model in enumerate(models)
    ]
    present = pl.concat(numbers).filter(pl.col("left").is_not_null())
    sizes = {"n_positive": "other_positive", "n_negative": "other_negative"}
    others = whole.select("model", *sizes).rename(sizes)
    sized = groups.join(others, on="model", how="left", maintain_order="left")
    shared = covariances(present, sized, whole).select("group", "covariance")
    return segments.join(shared, on="group", how="left", maintain_order="left")


def _with_reference(
    segments: pl.LazyFrame, whole: pl.LazyFrame | None, merit: pl.Expr | None
) -> pl.LazyFrame:
    """The segments with their reference beside them: all rows, or the first of most merit."""
    if merit is not None:
        first = pl.when(pl.col("merit") == pl.col("merit").max().over("model")).then("group")
        segments = segments.with_columns(merit=merit).with_columns(first=first)
        found = pl.col("group") == pl.col("first").min().over("model")
        segments = segments.with_columns(is_reference=found.fill_null(False))
        whole = segments.filter("is_reference")
    assert whole is not None
    beside = whole.select("model", pl.exclude("model").name.suffix(OF_REFERENCE))
    table = segments.join(beside, on="model", how="left", maintain_order="left")
    if merit is None:
        is_all = (pl.col("n") == pl.col(f"n{OF_REFERENCE}")) & (pl.col("n") > 0)
        table = table.with_columns(is_reference=is_all.fill_null(False))
    return table


def _with_others(table: pl.LazyFrame, *, overlapping: bool) -> pl.LazyFrame:
    """Add the counts of the reference's rows that are not the segment's: `ELSEWHERE`."""
    of_reference = {name: pl.col(f"{cell}{OF_REFERENCE}") for cell, name in ELSEWHERE.items()}
    if not overlapping:
        return table.with_columns(**of_reference)
    return table.with_columns(
        **{name: of_reference[name] - pl.col(cell) for cell, name in ELSEWHERE.items()}
    )


def _estimates(metric: AnyMetric, *, overlapping: bool) -> dict[str, pl.Expr]:
    """The values of a metric, the ends of their intervals, and how far they may be off."""
    found: dict[str, pl.Expr] = dict.fromkeys([*SPREADS, *TRIALS, "threshold"], UNKNOWN)
    if isinstance(metric, CountMetric):
        found["threshold"] = pl.col("threshold")
    found["width"] = pl.lit(float(metric.range[1] - metric.range[0]))
    for end in ("", "_low", "_high"):
        for name, suffix in (("value", ""), ("other", OF_REFERENCE)):
            found[name + end] = pl.col(metric.name + end + suffix).cast(pl.Float64)
    for name in ("value", "other"):
        low, high = found[f"{name}_low"], found[f"{name}_high"]
        known = pl.when(high - low > found[name].abs() * 1e-12)
        found |= {f"{name}_low": known.then(low), f"{name}_high": known.then(high)}
    if isinstance(metric, CountMetric) and not metric.additive:
        own = {cell: (cell, cell if overlapping else None) for cell in CELLS}
        elsewhere = {name: (None, cell) for cell, name in ELSEWHERE.items()}
        both = sides(metric, {**own, **elsewhere}, [pl.col("threshold")] * 2)
        found |= both.spreads() | dict(zip(TRIALS, both.trials(), strict=True))
    elif spread := metric.spread():
        found["variance"] = pl.col(spread.name)
        found["other_variance"] = pl.col(f"{spread.name}{OF_REFERENCE}")
        if not overlapping:
            found["covariance"] = pl.lit(0.0)
        elif loss := _loss(metric):
            found["covariance"] = pl.col("covariance") * loss**2
        else:  # Of means, the segment's rows are what both have.
            found["covariance"] = pl.col(spread.name) * (pl.col("n") / pl.col(f"n{OF_REFERENCE}"))
    elif not overlapping:
        found["covariance"] = pl.lit(0.0)
    return found


def _ratio_ends(together: pl.Expr) -> Bounds:
    """Both ends of the interval of the ratio, from those of the values; null if any is below 0."""
    value, other = pl.col("value"), pl.col("other")
    low, high, other_low, other_high = map(pl.col, ENDS)

    def roots(end: pl.Expr, other_end: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
        """The lower and the upper root of a quadratic equation, told without cancellation."""
        shared = value * other + together * (value - end) * (other - other_end)
        inner, outer = end * (value * 2 - end), other_end * (other * 2 - other_end)
        root = (shared * shared - inner * outer).clip(0).sqrt()
        upper = pl.when(shared > 0).then((shared + root) / outer).otherwise(inner / (shared - root))
        return inner / (shared + root), upper

    known = pl.when((low >= 0) & (other_low >= 0) & (other > 0))
    least, _ = roots(low, other_high)
    _, most = roots(high, other_low)
    return known.then(pl.when(low == 0).then(0.0).otherwise(least)), known.then(most)


def _finished(table: pl.LazyFrame, min_n: int, *, overlapping: bool) -> pl.LazyFrame:
    """The figures, from the estimates."""
    value, other, width = pl.col("value"), pl.col("other"), pl.col("width")
    n, other_n = map(pl.col, TRIALS)
    both = pl.col("variance") * pl.col("other_variance")
    together = pl.col("covariance") / both.sqrt()
    if not overlapping:
        together = pl.lit(0.0)
    together = pl.when(both == 0).then(0.0).otherwise(together)

    def reach(one: pl.Expr, other: pl.Expr) -> pl.Expr:
        return (one * one + other * other - together * one * other * 2).clip(0).sqrt()

    below = reach(value - pl.col("value_low"), pl.col("other_high") - other)
    above = reach(pl.col("value_high") - value, other - pl.col("other_low"))
    ratio_low, ratio_high = _ratio_ends(together)
    # If two proportions were the same, the rows of both would tell it.
    same = other if overlapping else (value * n + other * other_n) / (n + other_n)
    pooled = same * (1 - same) * (1 / n + (-1 if overlapping else 1) / other_n)
    # What seems to have no spread, as an area of 1, has one that is not known.
    own = pl.when(both > 0).then(pl.col("standard_error").pow(2))
    variance = pl.when(n.is_not_null()).then(pooled).otherwise(own)
    held = {
        "low": (pl.col("difference") - below).clip(-width, width),
        "high": (pl.col("difference") + above).clip(-width, width),
        "ratio_low": ratio_low,
        "ratio_high": ratio_high,
        "z": z_score(variance),
        "standard_error": pl.col("standard_error"),
    }
    usable = pl.when(pl.col("n") >= min_n).then("value")
    most, least = (extreme.over("model", "place") for extreme in (usable.max(), usable.min()))
    not_itself = pl.when(~pl.col("is_reference"))
    table = table.with_columns(**{name: not_itself.then(figure) for name, figure in held.items()})
    table = table.with_columns(
        p_value=two_sided(pl.col("z")),
        reference_value="other",
        below_min_n=pl.col("n") < min_n,
        largest_gap=most - least,
        ratio_of_extremes=least / most,
    )
    return table.with_columns(known(FIGURES))
