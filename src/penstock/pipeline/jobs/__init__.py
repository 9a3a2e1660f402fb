"""What runs on Spark and touches files: reading, writing, in which order. The transformations are one level up."""
