"""Between PTX and LLVM IR: functions as basic blocks, analyses of these, and passes that change them (passes.py)."""
