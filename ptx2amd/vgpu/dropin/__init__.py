"""What stands in for AMD's libamdhip64: exports.tsv lists its functions, generate.py writes our libraries of that name."""
