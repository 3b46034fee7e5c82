"""Git: objects, changes of files, blame, staging and commits. Only this package starts git."""
