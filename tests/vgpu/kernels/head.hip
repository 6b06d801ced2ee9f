// Names beyond those of hipcc.py's HEAD. WAVE: lanes of a wave.
#undef SHARED
#define SHARED static __attribute__((shared))
typedef unsigned char u8; typedef signed char i8; typedef unsigned short u16; typedef short i16; typedef long long i64;
#if WAVE == 64
#define BALLOT(x) __builtin_amdgcn_ballot_w64(x)
#else
#define BALLOT(x) ((u64)__builtin_amdgcn_ballot_w32(x))
#endif
#define EXP2(x) __builtin_amdgcn_exp2f(x)
