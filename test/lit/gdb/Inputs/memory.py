# The reader of images that gdb has from memory (the vdso), with a library as if it were one.
import sframe._gdb as unwinder

pc = int(gdb.parse_and_eval("(long)&through"))
path = gdb.current_progspace().solib_name(pc)
file = unwinder.FileImage(path)
bias = file.bias(pc)
assert file.bias(pc + (1 << 40)) is None
module = unwinder.memory_module("image at 0x%x" % bias, bias)
print(
    "memory:",
    module.bias == bias,
    pc in module,
    bias in module,
    [section.version for section in module.sections],
    module.find(pc).match.row.cfa,
    module.find(bias).match,
)
print("elsewhere:", unwinder.memory_module("x", pc), unwinder.memory_module("x", 16))
