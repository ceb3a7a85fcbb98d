"""What the program is measured with: `python -m benchmarks`. docs/benchmarks.md explains the table it prints."""
