"""`.ai-audit/` on disk: log, manifest, journal, config, blobs. Only this package writes there."""
