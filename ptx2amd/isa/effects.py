"""Effects of instructions beside computing their results, as rows of the instruction table declare them
(`Form.does`), and further traits for analyses: how a result may differ between the lanes of a warp, what it computes,
which operands it takes.

Plain integers, since analyses read them for every instruction of a kernel. Unknown means the worst: see ANYTHING."""

from __future__ import annotations

# does

NOTHING = 0
READS = 1 << 0  # memory; Form.memory or the field `space` says which
WRITES = 1 << 1
ATOMIC = 1 << 2  # reads and writes in one step
ORDERS = 1 << 3  # memory accesses: a fence
EXCHANGES = 1 << 4  # between lanes of a warp: a result depends on which lanes are there, or on what they give
WARP_BARRIER = 1 << 5  # lanes of a warp wait for each other (`.sync`)
MEMBERS = 1 << 6  # operand `m` is the mask of these lanes; else it is all of them
BLOCK_BARRIER = 1 << 7  # warps of a block wait for each other, all of them or as many threads as operand `b` says
ARRIVES = 1 << 8  # ... or arrive only
GROUP_BARRIER = 1 << 9  # the four warps of a warp group wait for each other
CLUSTER_BARRIER = 1 << 10  # blocks of a cluster wait for each other
POLLS = 1 << 11  # asks whether others have arrived yet: loops wait for that
BRANCHES = 1 << 12  # to the label `a`
SWITCHES = 1 << 13  # to one of the labels of the list `b`
RETURNS = 1 << 14
EXITS = 1 << 15
TRAPS = 1 << 16
CALLS = 1 << 17
READS_CARRY = 1 << 18  # the carry flag
WRITES_CARRY = 1 << 19

ATOM = READS | WRITES | ATOMIC
WARP = EXCHANGES | WARP_BARRIER  # of all lanes: `.sync.aligned`
MASKED = WARP_BARRIER | MEMBERS
JUMPS = BRANCHES | SWITCHES | RETURNS | EXITS  # control goes on elsewhere
ENDS = JUMPS | TRAPS  # of a basic block
MEMORY = READS | WRITES | ATOMIC
CARRY = READS_CARRY | WRITES_CARRY
BARRIERS = WARP_BARRIER | BLOCK_BARRIER | GROUP_BARRIER | CLUSTER_BARRIER
ANYTHING = MEMORY | ORDERS | EXCHANGES | BARRIERS | POLLS  # of what is refused

# result

SOURCES = "sources"  # uniform if all sources are
LANE = "lane"  # each lane has its own, whatever the sources are
OF_WARP = "warp"  # one for all lanes of a warp that exchange, whatever operand `a` is
RESULTS = (SOURCES, LANE, OF_WARP)

# computes: what analyses look through, of integers, addresses and predicates

COMPUTES = (
    *("", "copy", "unpack", "to_generic", "from_generic", "convert", "add", "sub", "mul", "mad", "div", "rem", "neg"),
    *("and", "or", "xor", "not", "shl", "shr", "compare"),
    "quotient",  # or root, correctly rounded
)

# takes: how operands are judged (ptx/check.py)

WIDER = 1 << 0  # registers wider than the type
SPECIALS = 1 << 1  # special registers
ADDRESS_32 = 1 << 2  # addresses in registers of at least 32 bits
ADDRESS_64 = 1 << 3  # generic addresses, and those of .global, in registers of 64 bits
SPACES = 1 << 4  # variables in the spaces that the opcode names, in the order of the operands
WHOLE = 1 << 5  # lists of destinations of which none may be discarded
