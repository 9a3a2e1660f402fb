"""How the load generator speaks to each server: one small class a protocol. Cheap, and plain enough for mypyc."""
