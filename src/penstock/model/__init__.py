"""The nouns: plain slotted data that every other room may know. This room imports nothing of penstock."""
