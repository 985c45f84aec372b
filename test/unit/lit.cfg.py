# The GoogleTest executable under lit. See ../lit/lit.cfg.py for the programs' tests.
import os
import lit.formats

config.name = "sframe-unit"
config.test_format = lit.formats.GoogleTest(".", "-tests")
config.test_source_root = os.path.join(config.obj_root, "unit")
config.test_exec_root = config.test_source_root
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
