"""Power cuts: a disk that can lose its power, what may be lost then, and the same for other servers."""
