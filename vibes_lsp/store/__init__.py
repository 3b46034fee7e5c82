"""`.ai-audit/` on disk: log, manifest, blobs, config. The only package that writes source data there."""
