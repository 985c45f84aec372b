# The GoogleTest executable under lit. See ../lit/lit.cfg.py for the programs' tests.
import os
import re
import subprocess
import tempfile
import lit.formats
import lit.Test

config.name = "sframe-unit"
config.test_format = lit.formats.GoogleTest(".", "-tests")
config.test_source_root = os.path.join(config.obj_root, "unit")
config.test_exec_root = config.test_source_root
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]


# lit leaves out of its results what GoogleTest has skipped. Here they count as unsupported, with
# the reason, which only the test itself has.
def with_reasons(selected, discovered):
    selected, discovered = post_process(selected, discovered)
    for test in selected:
        if test.result and test.result.code is lit.Test.SKIPPED:
            name = ".".join(test.path_in_suite[-2:])
            with tempfile.TemporaryDirectory(dir=config.obj_root) as folder:  # lit's own is gone
                output = subprocess.run(
                    [test.file_path, "--gtest_filter=" + name],
                    env=dict(config.environment, TMPDIR=folder),
                    capture_output=True,
                    text=True,
                ).stdout
            test.result.code = lit.Test.UNSUPPORTED
            test.result.output = "".join(re.findall(r": Skipped\n(.*)", output)[:1])
    return selected, discovered


post_process = lit.formats.GoogleTest.post_process_shard_results
if post_process.__name__ != "with_reasons":
    lit.formats.GoogleTest.post_process_shard_results = staticmethod(with_reasons)
