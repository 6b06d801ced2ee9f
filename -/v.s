	.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
	.amdhsa_code_object_version 5
	.text
	.protected	k
	.globl	k
	.p2align	8
	.type	k,@function
k:
	s_load_b128 s[0:3], s[0:1], 0x0
	v_lshlrev_b32_e32 v11, 4, v0
	s_wait_kmcnt 0x0
	global_load_b128 v[0:3], v11, s[0:1] scope:SCOPE_SYS
	s_wait_loadcnt 0x0
	v_mov_b32_e32 v4, v0
	v_add_co_u32 v6, s4, s0, v11
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_add_co_ci_u32_e64 v7, null, s1, 0, s4
	v_mov_b32_e32 v5, v1
	v_add_co_u32 v0, vcc_lo, 0x1000, v6
	s_delay_alu instid0(VALU_DEP_1)
	v_add_co_ci_u32_e64 v1, null, 0, v7, vcc_lo
	global_store_b128 v11, v[2:5], s[2:3] scope:SCOPE_SYS
	s_wait_storecnt 0x0
	v_add_co_u32 v4, s4, s2, v11
	flat_load_b128 v[0:3], v[0:1] scope:SCOPE_SYS
	s_wait_loadcnt 0x0
	s_wait_alu depctr_va_sdst(0)
	v_add_co_ci_u32_e64 v5, null, s3, 0, s4
	v_add_co_u32 v6, vcc_lo, 0x1000, v4
	s_wait_alu depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_2)
	v_add_co_ci_u32_e64 v7, null, 0, v5, vcc_lo
	s_wait_dscnt 0x0
	v_dual_mov_b32 v4, v0 :: v_dual_mov_b32 v5, v1
	flat_store_b128 v[6:7], v[2:5] scope:SCOPE_SYS
	s_wait_storecnt 0x0
	global_load_b128 v[1:4], v11, s[0:1] offset:8192 scope:SCOPE_SYS
	s_wait_loadcnt 0x0
	v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v3
	v_mov_b32_e32 v3, v4
	global_store_b128 v11, v[0:3], s[2:3] offset:8192 scope:SCOPE_SYS
	s_wait_storecnt 0x0
	global_load_b128 v[7:10], v11, s[0:1] offset:1024
	s_wait_loadcnt 0x0
	v_dual_mov_b32 v6, v7 :: v_dual_mov_b32 v7, v9
	v_mov_b32_e32 v9, v10
	global_store_b128 v11, v[6:9], s[2:3] offset:1024
	global_load_b128 v[0:3], v11, s[0:1] offset:2048 scope:SCOPE_SYS
	s_wait_loadcnt 0x0
	v_dual_mov_b32 v4, v0 :: v_dual_mov_b32 v5, v1
	s_wait_storecnt_dscnt 0x0
	global_inv scope:SCOPE_DEV
	s_wait_loadcnt 0x0
	global_store_b128 v11, v[2:5], s[2:3] offset:2048 scope:SCOPE_SYS
	s_wait_storecnt 0x0
	ds_store_b128 v11, v[6:9]
	s_wait_dscnt 0x0
	s_barrier_signal -1
	s_barrier_wait -1
	global_inv scope:SCOPE_SE
	ds_load_b128 v[1:4], v11 offset:512
	s_wait_dscnt 0x0
	v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v3
	v_mov_b32_e32 v3, v4
	global_store_b128 v11, v[0:3], s[2:3] offset:1024
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 12
		.amdhsa_next_free_sgpr 5
		.amdhsa_reserve_vcc 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_inst_pref_size 4
		.amdhsa_round_robin_scheduling 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
	.size	k, .Lfunc_end0-k

	.set k.num_vgpr, 12
	.set k.num_agpr, 0
	.set k.numbered_sgpr, 5
	.set k.num_named_barrier, 0
	.set k.private_seg_size, 0
	.set k.uses_vcc, 1
	.set k.uses_flat_scratch, 0
	.set k.has_dyn_sized_stack, 0
	.set k.has_recursion, 0
	.set k.has_indirect_call, 0
	.p2alignl 7, 3214868480
	.fill 96, 4, 3214868480
	.section	.AMDGPU.gpr_maximums,"",@progbits
	.set amdgpu.max_num_vgpr, 0
	.set amdgpu.max_num_agpr, 0
	.set amdgpu.max_num_sgpr, 0
	.set amdgpu.max_num_named_barrier, 0
	.text
	.section	".note.GNU-stack","",@progbits
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .name:           p0
        .offset:         0
        .size:           8
        .value_kind:     by_value
      - .name:           p1
        .offset:         8
        .size:           8
        .value_kind:     by_value
    .group_segment_fixed_size: 1024
    .kernarg_segment_align: 8
    .kernarg_segment_size: 16
    .max_flat_workgroup_size: 1024
    .name:           k
    .private_segment_fixed_size: 0
    .sgpr_count:     7
    .sgpr_spill_count: 0
    .symbol:         k.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     12
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
amdhsa.target:   amdgcn-amd-amdhsa--gfx1201
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
