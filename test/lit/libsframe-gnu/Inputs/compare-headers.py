"""compare-headers.py GNU OURS FOLDER: compares sframe.h and sframe-api.h in two folders by programs
that print the values of all macros and the layout of all structures, and by compiling both sets of
declarations together."""
import os
import re
import subprocess
import sys

gnu, ours, folder = sys.argv[1:4]
os.makedirs(folder, exist_ok=True)
# Guards, and what binutils' headers take from libiberty's ansidecl.h, are no part of the interface.
ignored = {"_SFRAME_H", "_SFRAME_API_H", "_SFRAME_ERRORS"}
structures = [
    "sframe_preamble",
    "sframe_header",
    "sframe_func_desc_entry_v2",
    "sframe_func_desc_idx_v3",
    "sframe_func_desc_attr_v3",
    "sframe_fre_info",
    "sframe_frame_row_entry_addr1",
    "sframe_frame_row_entry_addr2",
    "sframe_frame_row_entry_addr4",
]
arguments = [0, 1, 2, 3, 7, 8, 15, 16, 31, 0x55, 0xAA, 0xFF, 160, 4096]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def source_of(include, name):
    """A header without its comments."""
    return re.sub(r"/\*.*?\*/", " ", read(os.path.join(include, name)), flags=re.S)


def macros(include):
    text = "".join(source_of(include, name) for name in ("sframe.h", "sframe-api.h"))
    found = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?", text, re.M)
    return {
        name: len(parameters.split(",")) if parameters else 0
        for name, parameters in found
        if name not in ignored and not name.startswith("_SFRAME_")
    }


def functions(include):
    text = re.sub(r"\bATTRIBUTE_UNUSED\b", "", source_of(include, "sframe-api.h"))
    text = re.sub(r"^[ \t]*#.*(\\\n.*)*$", "", text, flags=re.M)
    declarations = re.findall(r"([\w \t\n*]+?)\b(\w+)\s*\(([^()]*)\)\s*;", text)
    return {
        name: (result.replace("extern", ""), parameters)
        for result, name, parameters in declarations
    }


def calls(name, count):
    if count == 0:
        return [name]
    if name == "SFRAME_V1_HDR_SIZE":
        return ["SFRAME_V1_HDR_SIZE(header)"]
    return [
        "%s(%s)"
        % (name, ", ".join(str(arguments[(i * 3 + j) % len(arguments)]) for j in range(count)))
        for i in range(len(arguments))
    ]


def members(include, structure):
    body = re.search(
        r"typedef struct %s\s*\{(.*?)\}" % structure, source_of(include, "sframe.h"), re.S
    ).group(1)
    return re.findall(r"(\w+)\s*;", body)


def program(include, names):
    lines = [
        "#include <sframe-api.h>",
        "#include <stdio.h>",
        "int main(void) {",
        "sframe_header header = {.sfh_auxhdr_len = 5};",
        "(void)header;",
    ]
    for name, count in sorted(names.items()):
        for call in calls(name, count):
            lines.append('printf("%s = %%lld\\n", (long long)(%s));' % (call, call))
    for structure in structures:
        lines.append('printf("%s: %%zu\\n", sizeof(%s));' % (structure, structure))
        for member in members(include, structure):
            lines.append(
                'printf("%s.%s: %%zu\\n", __builtin_offsetof(%s, %s));'
                % (structure, member, structure, member)
            )
    for member in ("fre_start_addr", "fre_datawords", "fre_info"):
        lines.append(
            'printf("row.%s: %%zu\\n", __builtin_offsetof(sframe_frame_row_entry, %s));'
            % (member, member)
        )
    lines += ['printf("%zu\\n", sizeof(sframe_frame_row_entry));', "return 0;", "}"]
    return "\n".join(lines)


def run(include, names, label):
    source, binary = os.path.join(folder, label + ".c"), os.path.join(folder, label)
    with open(source, "w", encoding="utf-8") as file:
        file.write(program(include, names))
    subprocess.run(["gcc", "-std=gnu11", "-w", "-I", include, source, "-o", binary], check=True)
    return subprocess.run([binary], check=True, capture_output=True, text=True).stdout


theirs, own = macros(gnu), macros(ours)
faults = [
    "macro %s: only one has it, or its arguments differ" % name
    for name in sorted(set(theirs) | set(own))
    if theirs.get(name) != own.get(name)
]
if not faults and run(gnu, theirs, "gnu") != run(ours, own, "ours"):
    faults.append("values or layouts differ: see gnu.c and ours.c in " + folder)

# A second declaration of a function is an error unless it has the same type.
theirs_functions, own_functions = functions(gnu), functions(ours)
faults += [
    "function %s: only one has it" % name
    for name in sorted(set(theirs_functions) ^ set(own_functions))
]
redeclared = "#include <sframe-api.h>\n" + "".join(
    "%s %s(%s);\n" % (result, name, parameters)
    for name, (result, parameters) in theirs_functions.items()
)
result = subprocess.run(
    ["gcc", "-std=gnu11", "-w", "-fsyntax-only", "-I", ours, "-x", "c", "-"],
    input=redeclared,
    text=True,
    capture_output=True,
)
if result.returncode:
    faults.append(result.stderr)

print(
    "\n".join(faults)
    or "%d macros, %d structures, %d functions: equal"
    % (len(own), len(structures), len(own_functions))
)
sys.exit(1 if faults else 0)
