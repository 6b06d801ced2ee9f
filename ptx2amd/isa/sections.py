"""Sections of the manual (PTX ISA 9.4) whose instructions are rows of several families, for `form.family`."""

DATA = (
    "9.7.10",  # data movement and conversion
    "- - mov - - shfl prmt ld - ldu st st.async - st.bulk multimem prefetch/prefetchu applypriority - - discard"
    " createpolicy isspacep cvta cvt cvt.pack mapa getctarank cp tensormap",
)
SYNCHRONIZATION = (
    "9.7.15",
    "bar/barrier bar.warp.sync barrier.cluster membar/fence atom red red.async - - vote match activemask redux"
    " griddepcontrol elect mbarrier/cp.async.mbarrier tensormap.cp_fenceproxy"
    " clusterlaunchcontrol.try_cancel clusterlaunchcontrol.query_cancel",
)
