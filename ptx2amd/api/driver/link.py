"""Linking."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuLinkCreate", 5050,
        "unsigned int numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut",
        c="cuLinkCreate_v2(numOptions, options, optionValues, stateOut)"),
    Function("cuLinkCreate_v2", 6050,
        "unsigned int numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut",
        ours=True),
    Function("cuLinkAddData", 5050,
        "CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name, unsigned int "
        "numOptions, CUjit_option *options, void **optionValues",
        c="cuLinkAddData_v2(state, type, data, size, name, numOptions, options, optionValues)", context="any"),
    Function("cuLinkAddData_v2", 6050,
        "CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name, unsigned int "
        "numOptions, CUjit_option *options, void **optionValues",
        ours=True, context="any"),
    Function("cuLinkAddFile", 5050,
        "CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions, CUjit_option "
        "*options, void **optionValues",
        c="cuLinkAddFile_v2(state, type, path, numOptions, options, optionValues)", context="any"),
    Function("cuLinkAddFile_v2", 6050,
        "CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions, CUjit_option "
        "*options, void **optionValues",
        ours=True, context="any"),
    Function("cuLinkComplete", 5050, "CUlinkState state, void **cubinOut, size_t *sizeOut", ours=True, context="any"),
    Function("cuLinkDestroy", 5050, "CUlinkState state", ours=True, context="any"),
]
