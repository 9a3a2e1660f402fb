"""The verbs with their promises: engine, journal and outbox together."""
