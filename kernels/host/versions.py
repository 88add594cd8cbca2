"""The versions of a kernel, by name."""


class Versions(dict):
    """The versions of one computation by their names, in the order of their steps.

    Parameters
    ----------
    computation : str
        What they compute, for the error that an unknown name raises.
    *versions : object
        Each with its `name`.

    Raises
    ------
    ValueError
        Where a name is looked up that no version has.
    """

    def __init__(self, computation: str, *versions):
        super().__init__((version.name, version) for version in versions)
        self.computation = computation

    def __missing__(self, name):
        raise ValueError(f"no {self.computation} {name!r}: use one of {', '.join(self)}")
