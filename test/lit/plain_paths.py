"""RUN lines do not quote %s, %S and %t. Where the folder of the source, of the build or of lit's
execution has a space or the like in its path, the tests go by links without."""
import atexit
import os
import re
import shutil
import tempfile

import lit.formats
import lit.TestRunner


class ShTest(lit.formats.ShTest):
    """`links`: the real folder and its link, for each folder that needs one."""

    def __init__(self, links):
        super().__init__(execute_external=True)
        self.links = links

    def execute(self, test, lit_config):
        if not self.links:
            return super().execute(test, lit_config)
        source = plain(test.getSourcePath(), self.links)
        folder = os.path.dirname(source)
        temporary = plain(lit.TestRunner.getTempPaths(test)[1], self.links) + ".tmp"
        # Those of the configuration first: %s begins the names of some.
        own = [("%s", source), ("%S", folder), ("%p", folder), ("%t", temporary)]
        return lit.TestRunner.executeShTest(test, lit_config, True, test.config.substitutions + own)


def plain(path, links):
    for real, link in links:
        if path == real or path.startswith(real + os.sep):
            return link + path[len(real) :]
    return path


def links_for(*folders):
    """Pairs of folder and link, the longest folder first. The links last as long as this
    process."""
    links = []
    for folder in sorted({os.path.realpath(folder) for folder in folders}, key=len, reverse=True):
        if re.fullmatch(r"[\w@%+=:,./-]*", folder, re.ASCII):
            continue
        if not links:
            place = tempfile.mkdtemp(prefix="sframe-lit-", dir="/tmp")
            atexit.register(shutil.rmtree, place, ignore_errors=True)
        link = os.path.join(place, "source-or-build%d" % len(links))
        os.symlink(folder, link)
        links.append((folder, link))
    return links
