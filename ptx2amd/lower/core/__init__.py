"""The core of lowering: modules, functions, values, names, and the text of LLVM IR."""
