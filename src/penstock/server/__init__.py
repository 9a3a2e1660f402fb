"""The corridor: listeners, the loop, the clock, the configuration, the admin API. Nothing below knows of it."""
