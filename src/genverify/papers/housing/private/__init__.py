"""The households behind the statistics: drawn, or read from files."""
