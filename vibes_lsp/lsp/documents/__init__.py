"""What the server says in each kind of document: source, files of a trail, knowledge."""
