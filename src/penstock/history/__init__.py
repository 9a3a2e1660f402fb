"""How it is remembered: the archivist, a process of its own that writes sealed segments as Parquet files of facts."""
