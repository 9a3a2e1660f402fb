"""The report: numbers in, one HTML page out. It must not know Spark, files or the clock."""
