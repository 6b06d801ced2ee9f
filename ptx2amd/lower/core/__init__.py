"""What lowering works with: modules, functions, values, names, and the text of LLVM IR."""
