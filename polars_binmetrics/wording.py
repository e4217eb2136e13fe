"""What functions say alike: their parameters and errors, once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from textwrap import fill, indent
from typing import Any, TypeVar

Verb = TypeVar("Verb", bound=Callable[..., Any])

PARAMETERS = {
    "scores": "A score column a model: names, expressions or selectors. Numeric or Boolean;"
    " compared as Float64.",
    "label": "The outcome: Boolean, or a number that is 0 or 1, unless `positive` is given.",
    "thresholds": "A number, several, `uniform`, `dyadic`, `quantiles` or `every_score`; by"
    " default every score. A row is called positive when ``score >= threshold``.",
    "by": "Segments: names, expressions or selectors. A null key is a segment of its own.",
    "metrics": "Names or metric objects, as in ``['recall', bm.fbeta(2.0), 'roc_auc']``.",
    "weight": "Weight of each row, at least 0. It makes the counts Float64 sums of weights.",
    "positive": "The value of `label` that counts as positive; any other value is then negative.",
    "strict": "Call a row positive only when ``score > threshold``.",
    "level": "The share of such intervals that hold the true value, above 0 and below 1.",
    "p_value": "The p-values of a family, a name or an expression. Null and NaN are no part of it.",
    "rollup": "Add the totals over the last keys, step by step up to all rows. The column `level`"
    " then says how many keys a row's segment has, 0 for the grand total; the other keys of a"
    " total are null.",
}
RAISES = """\
Raises
------
ColumnNotFoundError, SchemaError, DuplicateError, TypeError, ValueError
    When the call is made, naming the argument.

"""


def documented(raises: str = RAISES, **own: str) -> Callable[[Verb], Verb]:
    """Add parameters and errors to the docstring of a verb, `own` saying what only it can."""

    def add(verb: Verb) -> Verb:
        if verb.__doc__:  # There is none with -OO.
            texts = PARAMETERS | own
            names = [name for name in inspect.signature(verb).parameters if name != "self"]
            entries = "".join(f"{name}\n{_wrapped(texts[name])}\n" for name in names)
            head, _, rest = inspect.cleandoc(verb.__doc__).partition("Returns\n")
            results, _, notes = rest.partition("Notes\n")
            verb.__doc__ = (
                f"{head}Parameters\n----------\n{entries}\nReturns\n{results}{raises}Notes\n{notes}"
            )
        return verb

    return add


@cache
def _wrapped(text: str) -> str:
    return indent(fill(text, 84), "    ")
