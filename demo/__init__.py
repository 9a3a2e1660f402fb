"""One story, told step by step on a fresh directory, with real servers and real clients."""
