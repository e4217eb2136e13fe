"""Settings of all tests."""

import polars as pl
from hypothesis import settings

settings.register_profile("default", deadline=None, max_examples=12)
settings.load_profile("default")
pl.Config.set_tbl_cols(-1)
