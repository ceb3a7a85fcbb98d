"""The version of the program, by https://semver.org. CHANGELOG.md says what changed in each."""

__version__ = "1.0.0"
