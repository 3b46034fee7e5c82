"""Writers that are killed, disks that are full, and many programs at once: nothing that was acknowledged is lost."""
