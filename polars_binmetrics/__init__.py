"""Score binary classifiers on Polars: many models, segments and thresholds in one lazy plan."""

from types import ModuleType as _ModuleType

from polars_binmetrics.areas import *
from polars_binmetrics.choice import *
from polars_binmetrics.engines import *
from polars_binmetrics.example import load_example as load_example
from polars_binmetrics.histograms import *
from polars_binmetrics.intervals import *
from polars_binmetrics.namespaces import of as of
from polars_binmetrics.planning import *
from polars_binmetrics.probability import *
from polars_binmetrics.rates import *
from polars_binmetrics.resampling import *
from polars_binmetrics.significance import *
from polars_binmetrics.thresholds import *


def __dir__() -> list[str]:
    """What is offered, without the files that it comes from."""
    return [name for name, value in globals().items() if not isinstance(value, _ModuleType)]
