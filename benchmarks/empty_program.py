"""The main function of an empty console script: what `vibes hook` is compared with."""


def main() -> None:
    """Do nothing."""
