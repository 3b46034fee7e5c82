"""The server's state of trails, knowledge bases and documents, and what keeps it current."""
