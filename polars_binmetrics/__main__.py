"""`python -m polars_binmetrics`."""

from polars_binmetrics.command import main

raise SystemExit(main())
