"""Python code with which tests of graphs begin, run by bad_input/driver.py: a kernel that computes and sets conditions,
and short names for what adds nodes to graphs."""

WORLD = '''
PTX = HEAD + b"""
.extern .func cudaGraphSetConditional (.param .b64 h, .param .b32 v);
// value = value * times + plus; then the condition is the word at `from`, which goes down by 1 unless it is 0
.visible .entry step(.param .u64 at, .param .u32 times, .param .u32 plus, .param .u64 from, .param .u64 handle)
{
  .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [at]; ld.param.u64 %rd2, [from]; ld.param.u64 %rd3, [handle];
  ld.param.u32 %r1, [times]; ld.param.u32 %r2, [plus];
  ld.global.u32 %r3, [%rd1]; mad.lo.u32 %r3, %r3, %r1, %r2; st.global.u32 [%rd1], %r3;
  setp.eq.u64 %p1, %rd2, 0;
  @%p1 ret;
  ld.global.u32 %r4, [%rd2]; setp.ne.u32 %p2, %r4, 0; selp.u32 %r5, 1, 0, %p2; sub.u32 %r6, %r4, %r5;
  st.global.u32 [%rd2], %r6;
  { .param .b64 a; st.param.b64 [a], %rd3; .param .b32 b; st.param.b32 [b], %r4;
    call.uni cudaGraphSetConditional, (a, b); }
  ret;
}
"""
IF, WHILE, SWITCH, DEFAULT = 0, 1, 2, 1
cu = Driver().start()
function = cu.function(cu.load(PTX), "step")
words = cu.alloc(64)                        # word 0: the value; the others: conditions
keep = []

def at(word): return words.value + 4 * word
def put(word, value): cu.cuMemsetD32_v2(c.c_uint64(at(word)), value, c.c_size_t(1))
def get(word=0): return struct.unpack("<16I", cu.read(words, 64))[word]

def made(call, *arguments):
    handle = c.c_void_p()
    getattr(cu, call)(c.byref(handle), *arguments)
    return handle

def graph(): return made("cuGraphCreate", 0)
def stream(flags=1): return made("cuStreamCreate", flags)

def condition(of, value=0, flags=0):
    handle = c.c_uint64()
    cu.cuGraphConditionalHandleCreate(c.byref(handle), of, None, value, flags)
    return handle

def after(nodes): return (c.c_void_p * len(nodes))(*nodes), c.c_size_t(len(nodes))

def kernel(times, plus, word=None, handle=0):
    values = (c.c_uint64(words.value), c.c_uint32(times), c.c_uint32(plus), c.c_uint64(at(word) if word else 0),
              handle if handle else c.c_uint64())
    pointers = (c.c_void_p * 5)(*(c.addressof(v) for v in values))
    keep.extend((values, pointers))
    return struct.pack("<Q7I4xQQQQ", function.value, *[1] * 6, 0, c.addressof(pointers), 0, 0, 0)

def step(of, before, *arguments): return made("cuGraphAddKernelNode_v2", of, *after(before), kernel(*arguments))

def choice(of, before, handle, kind, size=1):
    params = c.create_string_buffer(struct.pack("<i12xQiIQQ", 13, handle.value, kind, size, 0, 0), 256)
    node = made("cuGraphAddNode", of, *after(before), params)
    bodies = struct.unpack_from("<Q", params, 32)[0]
    return node, [c.c_void_p(b) for b in (c.c_uint64 * size).from_address(bodies)]

def instance(of): return made("cuGraphInstantiateWithFlags", of, c.c_uint64(0))

def result(exe, value=1, on=None, **conditions):
    put(0, value)
    for word, count in conditions.items(): put(int(word[1:]), count)
    cu.cuGraphLaunch(exe, on)
    cu.cuStreamSynchronize(on)
    return get()

def loop(of, before, word, times, plus):
    """do { value = value * times + plus; } while (word--)"""
    handle = condition(of, 1, DEFAULT)
    node, [body] = choice(of, before, handle, WHILE)
    return node, step(body, [], times, plus, word, handle), body, handle
'''
