"""The wire dialects: bytes in, verbs out; outcomes in, bytes out. They know model, codecs and the Broker's verbs."""
