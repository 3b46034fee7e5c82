"""What must stay true of the source tree itself, whatever the code does."""
