"""cuRAND as data: libcurand's host functions on AMD's rocRAND."""

from __future__ import annotations

from ptx2amd.api.mapped import Mapped
from ptx2amd.api.spec import Api, Enum, Found, Function, Types
from ptx2amd.libraries import CURAND

TYPES = Types(
    handles=("curandGenerator_t", "cudaStream_t", "curandDiscreteDistribution_t"),
    enums=("curandStatus_t", "curandRngType_t", "curandOrdering_t", "curandDirectionVectorSet_t", "curandMethod_t",
           "libraryPropertyType"),
    structs=(
        "typedef unsigned int curandDirectionVectors32_t[32];\n"
        "typedef unsigned long long curandDirectionVectors64_t[64];\n"
    ),
    same={"cudaStream_t": "CUstream"},
)  # fmt: skip

ENUMS = {
    "curandRngType_t": Enum("rocrand_rng_type", {
        100: "ROCRAND_RNG_PSEUDO_DEFAULT", 101: "ROCRAND_RNG_PSEUDO_XORWOW", 121: "ROCRAND_RNG_PSEUDO_MRG32K3A",
        141: "ROCRAND_RNG_PSEUDO_MTGP32", 142: "ROCRAND_RNG_PSEUDO_MT19937", 161: "ROCRAND_RNG_PSEUDO_PHILOX4_32_10",
        200: "ROCRAND_RNG_QUASI_DEFAULT", 201: "ROCRAND_RNG_QUASI_SOBOL32",
        202: "ROCRAND_RNG_QUASI_SCRAMBLED_SOBOL32", 203: "ROCRAND_RNG_QUASI_SOBOL64",
        204: "ROCRAND_RNG_QUASI_SCRAMBLED_SOBOL64",
    }, "CURAND_STATUS_TYPE_ERROR"),
    "curandOrdering_t": Enum("rocrand_ordering", {
        100: "ROCRAND_ORDERING_PSEUDO_BEST", 101: "ROCRAND_ORDERING_PSEUDO_DEFAULT",
        102: "ROCRAND_ORDERING_PSEUDO_SEEDED", 103: "ROCRAND_ORDERING_PSEUDO_LEGACY",
        104: "ROCRAND_ORDERING_PSEUDO_DYNAMIC", 201: "ROCRAND_ORDERING_QUASI_DEFAULT",
    }, "CURAND_STATUS_OUT_OF_RANGE"),
    "curandDirectionVectorSet_t": Enum("rocrand_direction_vector_set", {
        101: "ROCRAND_DIRECTION_VECTORS_32_JOEKUO6", 102: "ROCRAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6",
        103: "ROCRAND_DIRECTION_VECTORS_64_JOEKUO6", 104: "ROCRAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6",
    }, "CURAND_STATUS_OUT_OF_RANGE"),
}  # fmt: skip

API = Api(
    name="curand",
    status="curandStatus_t",
    header="curand_generator.h",
    null="CURAND_STATUS_OUT_OF_RANGE",
    beneath=(r"\brocrand_(\w+)\(", r"rocrand.\1("),
    result="!libmap_ready() ? CURAND_STATUS_INITIALIZATION_FAILED : curand_status({})",
    success="CURAND_STATUS_SUCCESS",
    types=TYPES,
    found={"curandGenerator_t": Found("curand_found", "rocrand_generator ", "CURAND_STATUS_NOT_INITIALIZED")},
    enums=ENUMS,
    refusal='libmap_refuse(&said, "{}", CURAND_STATUS_INTERNAL_ERROR)',
)

_GENERATOR = "curandGenerator_t generator"
_NORMAL = "size_t n, T mean, T stddev"
_MOMENTS = ", T mean, T stddev"


def _distribution(symbol: str, number: str, rest: str = "size_t n", call: str = "", draw: str = "") -> Function:
    """rocRAND's (`call`), or a distribution that has cuRAND's sequence for some generators (`draw`, sequence.h)."""
    text = f"{_GENERATOR}, {number} *outputPtr, {rest}".replace(" T ", f" {number} ")
    given = "mean, stddev" if "mean" in rest else "0, 0"
    c = f"curand_draw(generator, DRAW_{draw}, outputPtr, n, {given})" if draw else ""
    return Function(symbol, 0, text, call=call, c=c)


def _called() -> tuple[Function, ...]:
    """rocRAND's functions for these."""
    rows = (
        ("", "unsigned int", ""), ("_uniform", "float", ""), ("_uniform_double", "double", ""),
        ("_normal", "float", _MOMENTS), ("_normal_double", "double", _MOMENTS),
        ("_log_normal", "float", _MOMENTS), ("_log_normal_double", "double", _MOMENTS),
    )  # fmt: skip
    text = "rocrand_generator generator, T *output_data, size_t n"
    return tuple(Function(f"rocrand_generate{name}", 0, (text + rest).replace("T ", f"{number} "))
                 for name, number, rest in rows)  # fmt: skip


def _table(symbol: str, bits: int, number: str) -> Function:
    vectors = f"curandDirectionVectors{bits}_t"
    call = f"rocrand_get_direction_vectors{bits}((const {number} **)vectors, set)"
    return Function(symbol, 0, f"out {vectors} **vectors, curandDirectionVectorSet_t set", call=call)


ROWS = (
    Function("curandCreateGenerator", 0, "out curandGenerator_t *generator, curandRngType_t rng_type",
        ours=True),
    Function("curandCreateGeneratorHost", 0, "out curandGenerator_t *generator, curandRngType_t rng_type",
        ours=True),
    Function("curandDestroyGenerator", 0, _GENERATOR, ours=True),
    Function("curandGetVersion", 0, "out int *version", value="libmap_version"),
    Function("curandGetProperty", 0, "libraryPropertyType type, int *value", ours=True),
    Function("curandSetStream", 0, f"{_GENERATOR}, cudaStream_t stream", ours=True),
    Function("curandSetPseudoRandomGeneratorSeed", 0, f"{_GENERATOR}, unsigned long long seed",
        ours=True),
    Function("curandSetGeneratorOffset", 0, f"{_GENERATOR}, unsigned long long offset", ours=True),
    Function("curandSetGeneratorOrdering", 0, f"{_GENERATOR}, curandOrdering_t order", ours=True),
    Function("curandSetQuasiRandomGeneratorDimensions", 0, f"{_GENERATOR}, unsigned int num_dimensions",
        call="rocrand_set_quasi_random_generator_dimensions"),
    Function("curandGenerateSeeds", 0, _GENERATOR, ours=True),
    _distribution("curandGenerate", "unsigned int", draw="BITS"),
    _distribution("curandGenerateLongLong", "unsigned long long", call="rocrand_generate_long_long"),
    _distribution("curandGenerateUniform", "float", draw="UNIFORM"),
    _distribution("curandGenerateUniformDouble", "double", draw="UNIFORM_DOUBLE"),
    _distribution("curandGenerateNormal", "float", _NORMAL, draw="NORMAL"),
    _distribution("curandGenerateNormalDouble", "double", _NORMAL, draw="NORMAL_DOUBLE"),
    _distribution("curandGenerateLogNormal", "float", _NORMAL, draw="LOG_NORMAL"),
    _distribution("curandGenerateLogNormalDouble", "double", _NORMAL, draw="LOG_NORMAL_DOUBLE"),
    _distribution("curandGeneratePoisson", "unsigned int", "size_t n, double lambda", call="rocrand_generate_poisson"),
    _distribution("curandGeneratePoissonMethod", "unsigned int", "size_t n, double lambda, curandMethod_t method"),
    # The program's kernels read this structure, which differs from rocRAND's.
    Function("curandCreatePoissonDistribution", 0,
        "double lambda, out curandDiscreteDistribution_t *discrete_distribution"),
    Function("curandDestroyDistribution", 0, "curandDiscreteDistribution_t discrete_distribution"),
    _table("curandGetDirectionVectors32", 32, "unsigned int"),
    _table("curandGetDirectionVectors64", 64, "unsigned long long"),
    Function("curandGetScrambleConstants32", 0, "out unsigned int **constants",
        call="rocrand_get_scramble_constants32((const unsigned int **)constants)"),
    Function("curandGetScrambleConstants64", 0, "out unsigned long long **constants",
        call="rocrand_get_scramble_constants64((const unsigned long long **)constants)"),
)  # fmt: skip

MAPPED = Mapped(
    library=CURAND,
    api=API,
    rows=ROWS,
    prefix="rocrand",
    status="rocrand_status",
    statuses={
        "ROCRAND_STATUS_SUCCESS": "CURAND_STATUS_SUCCESS",
        "ROCRAND_STATUS_VERSION_MISMATCH": "CURAND_STATUS_VERSION_MISMATCH",
        "ROCRAND_STATUS_NOT_CREATED": "CURAND_STATUS_NOT_INITIALIZED",
        "ROCRAND_STATUS_ALLOCATION_FAILED": "CURAND_STATUS_ALLOCATION_FAILED",
        "ROCRAND_STATUS_TYPE_ERROR": "CURAND_STATUS_TYPE_ERROR",
        "ROCRAND_STATUS_OUT_OF_RANGE": "CURAND_STATUS_OUT_OF_RANGE",
        "ROCRAND_STATUS_LENGTH_NOT_MULTIPLE": "CURAND_STATUS_LENGTH_NOT_MULTIPLE",
        "ROCRAND_STATUS_DOUBLE_PRECISION_REQUIRED": "CURAND_STATUS_DOUBLE_PRECISION_REQUIRED",
        "ROCRAND_STATUS_LAUNCH_FAILURE": "CURAND_STATUS_LAUNCH_FAILURE",
    },
    otherwise="CURAND_STATUS_INTERNAL_ERROR",
    missing="ROCRAND_STATUS_INTERNAL_ERROR",
    names={
        "curandGenerator_t": "rocrand_generator",
        "cudaStream_t": "hipStream_t",
        **{name: enum.type for name, enum in ENUMS.items()},
    },
    called=(
        Function("rocrand_create_generator", 0, "rocrand_generator *generator, rocrand_rng_type rng_type"),
        Function("rocrand_create_generator_host_blocking", 0,
            "rocrand_generator *generator, rocrand_rng_type rng_type"),
        Function("rocrand_destroy_generator", 0, "rocrand_generator generator"),
        *_called(),
        Function("rocrand_initialize_generator", 0, "rocrand_generator generator"),
        Function("rocrand_set_offset", 0, "rocrand_generator generator, unsigned long long offset"),
        Function("rocrand_set_ordering", 0, "rocrand_generator generator, rocrand_ordering order"),
        Function("rocrand_set_seed", 0, "rocrand_generator generator, unsigned long long seed"),
        Function("rocrand_set_stream", 0, "rocrand_generator generator, hipStream_t stream"),
        Function("rocrand_get_direction_vectors32", 0,
            "const unsigned int **vectors, rocrand_direction_vector_set set"),
        Function("rocrand_get_direction_vectors64", 0,
            "const unsigned long long **vectors, rocrand_direction_vector_set set"),
        Function("rocrand_get_scramble_constants32", 0, "const unsigned int **constants"),
        Function("rocrand_get_scramble_constants64", 0, "const unsigned long long **constants"),
    ),
)  # fmt: skip
