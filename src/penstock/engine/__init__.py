"""What is true: queues in order, the agenda, leases, waiters. No IO, no clock, no threads: time is an argument."""
