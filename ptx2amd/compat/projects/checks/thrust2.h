// Function objects that Thrust had up to version 2, for sources that are older than CUDA 13.
#pragma once
#include <thrust/version.h>

#if THRUST_MAJOR_VERSION >= 3
namespace thrust {
template <class Argument, class Result>
struct unary_function {
    using argument_type = Argument;
    using result_type = Result;
};

template <class First, class Second, class Result>
struct binary_function {
    using first_argument_type = First;
    using second_argument_type = Second;
    using result_type = Result;
};

template <class Value>
struct identity {
    __host__ __device__ const Value &operator()(const Value &value) const { return value; }
};

template <class Predicate>
struct thrust2_not {
    Predicate predicate;

    template <class Value>
    __host__ __device__ bool operator()(const Value &value) {
        return !predicate(value);
    }
};

template <class Predicate>
__host__ __device__ thrust2_not<Predicate> not1(const Predicate &predicate) {
    return {predicate};
}
} // namespace thrust
#endif
