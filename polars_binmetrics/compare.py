"""Where models are compared, two at a time, on the rows that both have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import polars as pl

from polars_binmetrics.columns import Clean, IntoColumn, IntoColumns, clean
from polars_binmetrics.contrast import (
    RESULTS,
    SPREADS,
    a_row_a_metric,
    held_against,
    known,
    of_difference,
    of_ratio,
    sides,
    z_score,
)
from polars_binmetrics.counts import members
from polars_binmetrics.face import Frame, FrameFace, like
from polars_binmetrics.intervals import UNKNOWN, Interval, IntoInterval, interval_of
from polars_binmetrics.metric import AnyMetric, CountMetric, RankMetric, RowMetric
from polars_binmetrics.placements import covariances
from polars_binmetrics.ranking import GROUP, packed, ranked, with_middle
from polars_binmetrics.registry import IntoMetric, find
from polars_binmetrics.resampling import ENDS, Bootstrap
from polars_binmetrics.significance import Test, mcnemar
from polars_binmetrics.state import SIZES, sound
from polars_binmetrics.table import of_ranks, of_rows
from polars_binmetrics.tails import two_sided
from polars_binmetrics.thresholds import IntoModelThreshold, per_model
from polars_binmetrics.wording import documented

SIDES = ["model", "baseline"]
#: The cells of the model and of the baseline that a row can be in.
JOINT = {
    f"{one} {other}": (one, other)
    for called in (("tp", "fp"), ("fn", "tn"))
    for other_called in (("tp", "fp"), ("fn", "tn"))
    for one, other in zip(called, other_called, strict=True)
}
FIGURES = ["value", "baseline_value", *RESULTS]
THRESHOLDS = ["threshold", "baseline_threshold"]
#: What a bootstrap draws.
DRAWN = ["low", "high", "ratio_low", "ratio_high"]
OUTPUT = [*SIDES, "metric", *THRESHOLDS, "n", "n_positive", "n_missing", *FIGURES]


@documented(
    baseline="The model that each other one is held against; None for all pairs.",
    threshold="A number, or one a model, as ``{'a': 0.5, 'b': 0.3}``, or as"
    " ``dict(best.select('model', 'threshold').rows())`` of what `best_threshold` gives. A row is"
    " called positive when ``score >= threshold``.",
    interval="A level, or what `bootstrap` makes, which draws the metrics of the counts; of any"
    " other interval, its level.",
    test="What `mcnemar` or `mcnemar_exact` makes, for shares of the same rows.",
)
def compare(
    self: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    *,
    metrics: IntoMetric | Iterable[IntoMetric],
    baseline: str | None = None,
    threshold: IntoModelThreshold = 0.5,
    by: IntoColumns | None = None,
    positive: object = None,
    strict: bool = False,
    interval: IntoInterval = 0.95,
    test: Test | None = None,
) -> Frame:
    """
    Compare models on the same rows: differences and ratios, with intervals and tests.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, baseline, metric, threshold, baseline_threshold, n, n_positive, n_missing,
        value, baseline_value, ratio, ratio_low, ratio_high, standard_error, z, difference, low,
        high, p_value]``, sorted by segment, model and baseline, the metrics in the order given;
        of all pairs, the model is the one given first. Only rows count that have a label and
        both scores; `n_missing` counts the others. The difference is ``value - baseline_value``,
        `low` and `high` are the ends of its interval, and `z` and `p_value` those of the
        two-sided test that there is none. Figures are Float64; null where undefined, where the
        metric has no closed form, and all of them where a row is at fault.

        For `roc_auc` and `gini` the paired test of DeLong, DeLong and Clarke-Pearson. For metrics
        of the counts the delta method on the eight counts of what either model calls a row; for
        shares of the same rows in both, as `accuracy`, `tpr` and `tnr`, but not `precision`,
        McNemar's test. For `brier` and `log_loss`, which are means, the variance of the rows'
        differences. For all other metrics only values, difference and ratio. The interval of the
        ratio is that of its logarithm. Identical models differ by 0, with a p-value of 1 where
        there is a test.
        The rows are taken as drawn independently.

    Notes
    -----
    One plan, which reads the rows once: a group-by for all metrics of the counts, two sorts of the
    rows a pair for DeLong's test and for other metrics of ranks. Nothing is corrected for many
    comparisons: `holm` and `benjamini_hochberg` do that, for the family that you name.

    Source: E. DeLong, D. DeLong and D. Clarke-Pearson, Comparing the areas under two or more
    correlated receiver operating characteristic curves, Biometrics 44, 1988.

    Examples
    --------
    >>> df = pl.DataFrame(
    ...     {
    ...         "y": [0, 0, 0, 0, 1, 1, 1, 1],
    ...         "a": [0.1, 0.3, 0.2, 0.6, 0.4, 0.8, 0.7, 0.9],
    ...         "b": [0.2, 0.6, 0.5, 0.3, 0.1, 0.9, 0.4, 0.8],
    ...     }
    ... )
    >>> table = df.binmetrics.compare(["a", "b"], "y", metrics=["accuracy", "roc_auc"])
    >>> table.select("metric", "value", "baseline_value", "low", "high", "p_value")
    shape: (2, 6)
    ┌──────────┬────────┬────────────────┬───────────┬──────────┬──────────┐
    │ metric   ┆ value  ┆ baseline_value ┆ low       ┆ high     ┆ p_value  │
    │ ---      ┆ ---    ┆ ---            ┆ ---       ┆ ---      ┆ ---      │
    │ str      ┆ f64    ┆ f64            ┆ f64       ┆ f64      ┆ f64      │
    ╞══════════╪════════╪════════════════╪═══════════╪══════════╪══════════╡
    │ accuracy ┆ 0.75   ┆ 0.5            ┆ -0.208345 ┆ 0.708345 ┆ 0.317311 │
    │ roc_auc  ┆ 0.9375 ┆ 0.625          ┆ -0.123473 ┆ 0.748473 ┆ 0.160057 │
    └──────────┴────────┴────────────────┴───────────┴──────────┴──────────┘
    """
    chosen = find(metrics, least=1)
    drawn = interval_of(interval)
    tested = mcnemar() if test is None else test
    if not isinstance(tested, Test):
        raise TypeError(f"`test` should be made by bm.mcnemar and the like, got {test!r}")
    rows = clean(
        self.frame.lazy(),
        scores,
        label,
        by=by,
        weight=None,
        positive=positive,
        taken=OUTPUT,
    )
    pairs = _pairs(list(rows.models), baseline)
    cuts = per_model(threshold, list(rows.models))
    paired = _paired(rows, pairs)
    by_pair = [*rows.keys.values(), *SIDES]
    # Under names that no other column has.
    inner = [metric.alias(f"metric {place}") for place, metric in enumerate(chosen)]
    groups = _groups(paired, pairs, cuts, inner, strict=strict)
    groups = groups.sort(by_pair).with_row_index("group").cache()
    estimates = {
        metric.name: {"metric": pl.lit(shown.name), "place": pl.lit(place)}
        | _estimates(metric, drawn)
        for place, (metric, shown) in enumerate(zip(inner, chosen, strict=True))
    }
    table = _with_summaries(paired, pairs, groups, inner)
    table = a_row_a_metric(table, [*by_pair, *SIZES], estimates)
    table = _finished(held_against(table), drawn, tested).sort(*by_pair, "place")
    return like(self.frame, rows.named(table.select(*by_pair, *OUTPUT[len(SIDES) :])))


def _pairs(models: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """Model and baseline of each comparison, sorted."""
    if len(models) < 2:
        raise ValueError(f"`scores` should name at least two columns, got {models[0]!r}")
    if baseline is None:
        return sorted(combinations(models, 2))
    if baseline not in models:
        names = ", ".join(map(repr, models))
        raise ValueError(f"`baseline`: {baseline!r} is none of the models {names}")
    return sorted((model, baseline) for model in models if model != baseline)


def _paired(rows: Clean, pairs: Sequence[tuple[str, str]]) -> Clean:
    """The scores of each pair, null where one of the two is: a model a `_side`."""
    scores: dict[str, pl.Expr] = {}
    for i, pair in enumerate(pairs):
        both = [rows.of(model).score for model in pair]
        present = pl.all_horizontal(score.is_not_null() for score in both)
        for side, score in zip(SIDES, both, strict=True):
            scores[_side(i, side)] = pl.when(present).then(score)
    frame = rows.frame.with_columns(**scores)
    return Clean(frame, rows.keys, {name: name for name in scores}, weighted=False)


def _side(pair: int, side: str) -> str:
    return f"{side} of pair {pair}"


def _groups(
    paired: Clean,
    pairs: Sequence[tuple[str, str]],
    cuts: Mapping[str, float],
    metrics: Sequence[AnyMetric],
    *,
    strict: bool,
) -> pl.LazyFrame:
    """The rows of each segment and pair, counted: [*by, *SIDES, *SIZES, *JOINT, ...]."""
    sums: dict[str, pl.Expr] = {}
    blocks: list[dict[str, pl.Expr]] = []
    for i, pair in enumerate(pairs):
        both = [paired.of(_side(i, side)) for side in SIDES]
        one = both[0]
        own, other = (
            members(rows, pl.lit(cuts[model]), strict=strict)
            for rows, model in zip(both, pair, strict=True)
        )
        counted = {
            "n_missing": one.total(one.score.is_null()),
            "n_positive": one.total(one.score.is_not_null() & one.positive),
            "n_negative": one.total(one.score.is_not_null() & ~one.positive),
            "n_faulty": pl.any_horizontal(rows.faulty() for rows in both).cast(pl.Int64),
        }
        for name, (cell, other_cell) in JOINT.items():
            counted[name] = one.total(own[cell] & other[other_cell])
        for metric in metrics:
            if isinstance(metric, RowMetric) and metric.spread():
                counted[f"{metric.name} difference"] = metric.spread_of_difference(*both)
        sums |= {f"{name} {i}": expr for name, expr in counted.items()}
        block = {name: pl.col(f"{name} {i}") for name in counted}
        for side, model in zip(SIDES, pair, strict=True):
            block[side] = pl.lit(model)
            block[f"{side} cut"] = pl.lit(cuts[model])
            block[f"{side} name"] = pl.lit(_side(i, side))
        blocks.append(block)
    return paired.reduce(sums, blocks)


def _with_summaries(
    paired: Clean,
    pairs: Sequence[tuple[str, str]],
    groups: pl.LazyFrame,
    metrics: Sequence[AnyMetric],
) -> pl.LazyFrame:
    """The groups with what metrics that take no threshold need."""
    of_scores = [metric for metric in metrics if isinstance(metric, RowMetric)]
    ranking = [metric for metric in metrics if isinstance(metric, RankMetric)]
    areas = [metric for metric in ranking if metric.loss is not None]
    ranking = [metric for metric in ranking if metric.loss is None]
    table = groups
    if areas:
        sizes = groups.with_columns(other_positive="n_positive", other_negative="n_negative")
        losses = covariances(_numbers(paired, pairs, groups), sizes, groups)
        table = table.join(losses, on="group", how="left", maintain_order="left")
    spreads = [spread for metric in of_scores if (spread := metric.spread())]
    summaries = [of_rows(paired, [*of_scores, *spreads], rollup=False)] if of_scores else []
    if ranking:
        summaries.append(of_ranks(ranked(paired, rollup=False), ranking))
    keys = list(paired.keys.values())
    for summary in summaries:
        for side in SIDES:
            figures = summary.select(
                *keys,
                pl.col("model").alias(f"{side} name"),
                pl.exclude(*keys, "model").name.suffix(f" of {side}"),
            )
            on = [*keys, f"{side} name"]
            table = table.join(figures, on=on, how="left", nulls_equal=True, maintain_order="left")
    return table


def _numbers(paired: Clean, pairs: Sequence[tuple[str, str]], groups: pl.LazyFrame) -> pl.LazyFrame:
    """The numbers of the rows among both scores of each pair: [left, right]."""
    keys = list(paired.keys.values())
    first = groups.filter(pl.col("model name") == _side(0, "model"))
    frame, base = with_middle(paired.frame, first, keys)
    numbers: list[pl.LazyFrame] = []
    for i in range(len(pairs)):
        left, right = (packed(base + i * GROUP, paired.of(_side(i, side))) for side in SIDES)
        numbers.append(frame.select(left=left, right=right).filter(pl.col("left").is_not_null()))
    return pl.concat(numbers)


def _estimates(metric: AnyMetric, interval: Interval) -> dict[str, pl.Expr]:
    """The values of a metric, how far they may be off, and ends if they are drawn."""
    found = dict.fromkeys([*SPREADS, "trials", *DRAWN, *THRESHOLDS], UNKNOWN)
    found["width"] = pl.lit(float(metric.range[1] - metric.range[0]))
    redrawn = isinstance(interval, Bootstrap) and isinstance(metric, CountMetric)
    found["redrawn"] = pl.lit(redrawn)
    if isinstance(metric, CountMetric):
        cuts = [pl.col(f"{side} cut") for side in SIDES]
        found |= dict(zip(THRESHOLDS, cuts, strict=True))
        both = sides(metric, JOINT, cuts)
        value, other = both.values
        if not metric.additive:
            found |= both.spreads()
        if both.same_trials():
            found["trials"], _ = both.trials()
        if isinstance(interval, Bootstrap):
            for prefix, figure in (("", value - other), ("ratio_", value / other)):
                ends = interval.of_counts(figure, list(JOINT))
                found |= {f"{prefix}{end}": ends.struct.field(end) for end in ENDS}
    elif isinstance(metric, RankMetric) and metric.loss is not None:
        value, other = (1 - pl.col(loss) * metric.loss for loss in ("loss", "other_loss"))
        found |= {spread: pl.col(spread) * metric.loss**2 for spread in SPREADS}
    else:
        value, other = (pl.col(f"{metric.name} of {side}") for side in SIDES)
        if spread := metric.spread():
            one, two = (pl.col(f"{spread.name} of {side}") for side in SIDES)
            shared = (one + two - pl.col(f"{metric.name} difference")) / 2
            found |= dict(zip(SPREADS, (one, two, shared), strict=True))
    return {"value": value.cast(pl.Float64), "other": other.cast(pl.Float64), **found}


def _finished(table: pl.LazyFrame, interval: Interval, test: Test) -> pl.LazyFrame:
    """The figures, from the estimates."""
    difference = pl.col("difference")
    n = pl.when(difference.is_not_nan()).then("trials")
    variance = pl.col("standard_error").pow(2)
    # Of shares of the same rows, what is not discordant adds the square of the mean alone.
    discordant, gained = (variance * n + difference * difference) * n, difference * n
    table = table.with_columns(
        gained=((discordant + gained) / 2).round(), lost=((discordant - gained) / 2).round()
    )
    z, p = test.of_discordant(pl.col("gained"), pl.col("lost"))
    shares = pl.when(pl.col("gained").is_not_null())
    table = table.with_columns(
        z=shares.then(z).otherwise(z_score(variance)), p_value=shares.then(p)
    )
    p = pl.coalesce("p_value", two_sided(pl.col("z")))
    low, high = of_difference(interval.level)
    bounds = [low.clip(-pl.col("width"), "width"), high.clip(-pl.col("width"), "width")]
    bounds += of_ratio(interval.level)
    ends = {
        name: pl.when("redrawn").then(name).otherwise(bound)
        for name, bound in zip(DRAWN, bounds, strict=True)
    }
    table = table.with_columns(**ends, p_value=p, baseline_value="other")
    table = table.with_columns(n=pl.col("n_positive") + pl.col("n_negative"))
    return table.with_columns(known(FIGURES)).with_columns(sound("n", *FIGURES))
