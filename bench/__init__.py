"""Speed against peers: the same work on the same machine in one run, interleaved, as ratios with their spread."""
