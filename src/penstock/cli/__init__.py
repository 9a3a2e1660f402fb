"""People's door: commands, tables and JSON. It can do only what the server's routes or the journal's files can."""
