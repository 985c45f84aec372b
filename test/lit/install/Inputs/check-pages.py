"""check-pages.py PREFIX NAME: every option that --help-all of the program prints is in its four
pages."""
import re
import subprocess
import sys

prefix, name = sys.argv[1:]
printed = subprocess.run(
    [prefix + "/bin/" + name, "--help-all"], capture_output=True, encoding="utf-8", check=True
).stdout
options = set(re.findall(r"^  (?:-\w, )?--([\w-]+)", printed, re.M)) | set(
    re.findall(r"^  --[\w-]+, --([\w-]+)", printed, re.M)
)
pages = {
    "man/man1/%s.1" % name: lambda o: "\\fB%s\\fR" % ("--" + o).replace("-", "\\-"),
    "bash-completion/completions/" + name: lambda o: "--" + o,
    "zsh/vendor-completions/_" + name: lambda o: "--" + o,
    "fish/vendor_completions.d/%s.fish" % name: lambda o: "-l " + o,
}
for path, spelling in pages.items():
    with open(prefix + "/share/" + path, encoding="utf-8") as file:
        text = file.read()
    for option in options:
        if not re.search(re.escape(spelling(option)) + r"(?![\w-])", text):
            sys.exit("%s: no --%s" % (path, option))
print("%s: %d options in %d pages" % (name, len(options), len(pages)))
