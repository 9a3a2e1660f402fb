"""How facts are kept: segments on a disk, their recovery, checks and repair. What facts mean is not known here."""
