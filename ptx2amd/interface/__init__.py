"""What crosses from the translator (Python) and the code that it makes to the driver (C), described once, as rows.

A module for each thing: `kernel`, `module` (text of cache entries, read by `lines.c`), `environment`, `launch_words`,
`texture`, `tensor_map`, `arena`, `heap`, `printf`, `launches` (layouts of memory). `lines` and `layout` explain the two
kinds of rows, `generate` makes C of them, `page` docs/internals/abi.md.
"""
