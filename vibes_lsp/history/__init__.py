"""Git: revisions, objects, file versions and commits. Only this package starts git."""
