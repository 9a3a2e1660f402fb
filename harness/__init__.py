"""What tests, benchmarks, campaigns and the demo share: real servers as processes of their own."""
