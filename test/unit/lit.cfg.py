# The GoogleTest executable under lit. See ../lit/lit.cfg.py for the programs' tests.
import os
import lit.formats

config.name = "sframe-unit"
config.test_format = lit.formats.GoogleTest("unit", "-tests")
config.test_source_root = config.obj_root
config.test_exec_root = config.obj_root
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
