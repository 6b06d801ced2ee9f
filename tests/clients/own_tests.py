"""Which of the clients' own tests suites.py runs, by their names there."""

from __future__ import annotations

# CuPy's core tests, but for time those of fusion, of mdspan, ndarray_elementwise_op (thousands of kernels) and
# ndarray_reduction; those of threads, which are all marked slow; and of bfloat16, which want ml_dtypes.
_CUPY = {
    "core_tests": """array_function carray core cub_reduction dlpack elementwise flags function gufuncs include internal
        iter ndarray ndarray_adv_indexing ndarray_byteswap ndarray_complex_ops ndarray_contiguity ndarray_conversion
        ndarray_copy_and_view ndarray_cuda_array_interface ndarray_get ndarray_indexing ndarray_math ndarray_owndata
        ndarray_scatter ndarray_ufunc ndarray_unary_op nep50_examples raw reduction scan structured syncdetect
        ufunc_methods userkernel""",
}
CUPY = [f"{{source}}/tests/cupy_tests/{part}/test_{name}.py" for part, names in _CUPY.items() for name in names.split()]

# Of Warp's, those of modules that are done in a minute or two. Left out for time: finite elements, volumes, most of
# vectors, matrices and tiles, what is sampled from textures, thousands of asynchronous copies; for their gigabytes:
# test_copy and test_large; as it asks for machine code alone: cuda.test_texture_compiler.
_WARP = {
    "": """adam allocation_tracker allocator apic_load_from_bytes apic_mesh apic_utility_algorithms array_reduce
        atomic atomic_bitwise atomic_cas bf16 bit_count block_dim_dispatch bool builtins_resolution
        closest_point_edge_edge codegen codegen_continue codegen_instancing compilation compile_consts
        composite_component_adjoint conditional constant_precision context cpu_block_dim ctypes cuda_profiler dense
        devices diagnostics enum external_build factory_style_array_annotations fast_math fixedarray fp16 func
        func_inline func_parameter_targets future_annotations grad_debug graph implicit_init import indexedarray
        intersect iter launch lerp logger lvalue operators options rand reload rounding runlength_encode smoothstep
        struct transient_module triangle_closest_point vec_constructors verify_fp""",
    "aot.": """module_aot""",
    "cuda.": """array_fill_capture capture_mode capture_release clang_cuda cluster_dim conditional_captures
        cuda_arch_suffix cuda_max_registers cuda_smem_spilling ipc kernel_attributes mempool multigpu occupancy peer
        pinned streams sync_errors unified_memory""",
    "deterministic.": """deterministic_backward deterministic_counter deterministic_graph_capture deterministic_options
        deterministic_scatter""",
    "geometry.": """delaunay grouped_bvh marching_cubes mesh mesh_query_aabb mesh_query_point mesh_query_ray
        sparse_marching_cubes surface_nets volume_validation volume_write""",
    "interop.": """dlpack jax""",
    "matrix.": """mat_assign_copy mat_basics mat_lite""",
    "tile.": """tile_atomic_bitwise tile_cholesky_no_mathdx tile_composite_row tile_construction tile_empty""",
}
WARP = [f"warp.tests.{part}test_{name}" for part, names in _WARP.items() for name in names.split()]
