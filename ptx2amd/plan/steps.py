"""The steps of planning a kernel, each of which decides one thing."""

from __future__ import annotations

from math import prod

from ptx2amd.errors import Unsupported
from ptx2amd.interface.arena import BLOCK_SHARED_LIMIT
from ptx2amd.middle.analyses.hazards import hazards
from ptx2amd.middle.calls import CallGraph, defined
from ptx2amd.plan.kernel import Planning
from ptx2amd.plan.launch_library import library_name
from ptx2amd.plan.shared_memory import one_object, packed, plan, shared_arrays
from ptx2amd.ptx.ast import Function
from ptx2amd.ptx.heads import max_threads, required_block
from ptx2amd.records import replace


def find_hazards(planning: Planning) -> None:
    planning.hazards = hazards(planning.unit, planning.reachable[1:])


def choose_mapping(planning: Planning) -> None:
    """Raises Unsupported for blocks and clusters that the target has not."""
    kernel, request, chosen = planning.kernel, planning.request, planning.request.target
    cluster = kernel.directives.get("reqnctapercluster", ())
    if prod(cluster) > 1:
        raise Unsupported(f"clusters of {prod(cluster)} blocks; a cluster has one block", kernel.proto.name)
    # What is known at launches only: they take a padded variant then (per-kernel code objects).
    hazardous = [h for h in planning.hazards if not h.lanes and (request.mode == "module" or not h.at_launch)]
    if request.choose and chosen.paired and hazardous:
        chosen = replace(chosen, mapping="padded")
    block = max_threads(kernel)
    if "reqntid" in kernel.directives and block > chosen.max_block:
        reason = f"blocks of {block} threads, where {chosen.mapping} warps allow {chosen.max_block}"
        why = f": {planning.hazards[0]}" if planning.hazards else ""
        raise Unsupported(reason + why, kernel.proto.name)
    planning.target = chosen


def choose_float_mode(planning: Planning) -> None:
    reached = [planning.calls.summary(f) for f in planning.reachable]
    flush = sum(summary.flush for summary in reached) > sum(summary.ieee for summary in reached)
    planning.denormals = "flush" if flush else "ieee"


def plan_shared_memory(planning: Planning) -> None:
    """Raises Unsupported for more than a block can have."""
    arrays, arch = shared_arrays(planning.calls, planning.kernel), planning.request.target.arch
    size, most = packed(arrays), max(BLOCK_SHARED_LIMIT, arch.lds)
    if size > most:
        reason = f"{size} bytes of static shared memory; a block can have {most}"
        raise Unsupported(reason, planning.kernel.proto.name)
    planning.shared = plan(arrays, arch, planning.request.variant)
    alone = planning.shared is None and len(planning.reachable) == 1
    planning.lds = one_object(arrays) if alone else None


def plan_launch_words(planning: Planning) -> None:
    """The launch appends them where a kernel launches kernels, reads the grid's workspace, or has shared memory whose
    size HIP is not told."""
    per_kernel = planning.request.mode == "kernel"
    planning.launches = per_kernel and any(_may_launch(planning.calls, f) for f in planning.reachable)
    read = {name for f in planning.reachable for name in planning.calls.summary(f).specials}
    asks = planning.launches or planning.shared is not None or any(name.startswith("%envreg") for name in read)
    planning.launch_words = per_kernel and asks


def _may_launch(calls: CallGraph, function: Function) -> bool:
    """Whether a function uses the library for launches from kernels."""
    functions = calls.module.functions
    named = (name for name in calls.summary(function).functions if name in functions)
    return any(library_name(name) and not defined(functions[name]) for name in named)


def plan_barriers(planning: Planning) -> None:
    block = required_block(planning.kernel)
    whole = prod(block) if block else -1
    parts = [part for f in planning.reachable for part in planning.calls.summary(f).parts]
    planning.partial_barriers = frozenset(number for number, count in parts if count != whole)
    planning.owner = planning.kernel.proto.name if planning.shared is not None or parts else ""
