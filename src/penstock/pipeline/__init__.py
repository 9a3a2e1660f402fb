"""Everything that ever happened to a message, in tables, through PySpark. It reads an archive and writes a lake."""
