"""Mixed traffic for an hour, and whether memory, latency and disk stay flat meanwhile."""
