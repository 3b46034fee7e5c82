"""Killed writers, full disks and concurrent programs: nothing acknowledged is lost."""
