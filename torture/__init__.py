"""Crash, fault and fuzz campaigns: any length here, a short version of each in the tests."""
