"""What the RFC asks of a reader, and how this project reads it where texts or real data disagree: one test for each rule."""
