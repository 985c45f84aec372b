# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All about one file: sframe-gen and sframe-verify are run over it, their reports become rows of
the database. A program that fails is a row, too."""
import bisect
import dataclasses
import glob
import json
import os
import re
import shutil
import struct
import subprocess

from . import origin, programs, report_json, scratch, store

MAX_LEFT_OUT = 100  # rows of table left_out, of a file
MAX_FINDINGS = 100  # rows of table finding, of a kind and file
INSTRUCTIONS = 24  # of a worked example
# The version that sframe-gen --for writes, and the ABIs on which the reader reads it
# (docs/readers.md).
READERS = {"linux": (3, ("amd64", "aarch64", "s390x")), "glibc": (2, ("amd64", "aarch64"))}
IN_CODE = re.compile(r"K2\d\d")  # findings that compare rows with the code


class Stop(Exception):
    """The file cannot be measured any further; the state and the reason."""

    def __init__(self, state, failure):
        super().__init__(failure)
        self.state, self.failure = state, failure


@dataclasses.dataclass
class Options:
    programs: object
    limits: programs.Limits
    gen_options: tuple = ()  # more options for sframe-gen
    debug_folders: tuple = ()  # of --debug-dir
    version: str = "3"
    coverage_only: bool = False  # of the default section, and of all sources


@dataclasses.dataclass
class Record:
    """Rows of the database: of table file, and by table of the others, without the file's ID."""

    file: dict
    rows: dict


def _function_starts(path):
    """The starts of the functions of a version 3 section at address 0, which are sorted."""
    with open(path, "rb") as file:
        data = file.read()
    order = "<" if data[:2] == b"\xe2\xde" else ">"
    if data[2:3] != b"\x03":
        return None
    number, index = (
        struct.unpack_from(order + "I", data, 8)[0],
        28 + data[7] + struct.unpack_from(order + "I", data, 20)[0],
    )
    pcrel = data[3] & 4
    return [
        struct.unpack_from(order + "q", data, index + 16 * i)[0] + (index + 16 * i if pcrel else 0)
        for i in range(number)
    ]


def _reasons(report):
    """Rows of table reason, or all_reason, for a report of sframe-gen."""
    sizes = {}
    for entry in report["left_out"]:
        sizes[entry["reason"]] = sizes.get(entry["reason"], 0) + entry["size"]
    return [
        {"reason": reason, "count": count, "bytes": sizes.get(reason, 0)}
        for reason, count in report["reasons"].items()
    ]


class _Measuring:
    def __init__(self, file, path, folder, options, debug_folder):
        self.elf, self.folder, self.options = file, folder, options
        self.debug_folders = ([debug_folder] if debug_folder else []) + list(options.debug_folders)
        self.origin = origin.Origin(origin.UNKNOWN)
        self._message = ""  # of the last program
        self.rows = {name: [] for name in store.OF_FILE}
        self.values = {
            "path": path,
            "abi": file.abi,
            "kind": "static"
            if file.is_executable and not file.has_interpreter
            else "executable"
            if file.is_executable
            else "library",
            "debug": int(file.has_section(".debug_info") or self._has_debug_file()),
            "state": "measured",
            "failure": None,
            "file_bytes": file.size,
            "loaded_bytes": file.loaded,
            "sframe_linked": file.section_size(".sframe"),
            "seconds": 0.0,
            "memory": 0,
            **{
                name: file.section_size("." + name)
                for name in ("eh_frame", "eh_frame_hdr", "debug_frame")
            },
        }

    def _has_debug_file(self):
        build_id = self.elf.build_id()
        return bool(build_id) and any(
            os.path.isfile(os.path.join(folder, ".build-id", build_id[:2], build_id[2:] + ".debug"))
            for folder in [*self.debug_folders, "/usr/lib/debug"]
        )

    def _path(self, name):
        return os.path.join(self.folder, name)

    def _run(self, name, arguments, stdout=None):
        outcome = programs.run(
            [self.options.programs[name], *arguments], self.folder, self.options.limits, stdout
        )
        self._message = outcome.message
        self.values["seconds"] += outcome.seconds
        self.values["memory"] = max(self.values["memory"], outcome.memory)
        if outcome.failure():
            raise Stop("failed", "%s %s" % (name, outcome.failure()))
        return outcome

    def _without_paths(self, text):
        """A message, without names of the scratch folder."""
        text = (
            re.sub(r"^sframe-\w+: error: ", "", text)
            .replace(self.elf.path + ": ", "")
            .replace(self.elf.path, os.path.basename(self.values["path"]))
        )
        return text.replace(self.folder + "/", "") if self.folder else text

    def _refusal(self, name, message, outcome):
        """The Stop of a program that read the file and refused it, which it gives a reason for."""
        reason = self._without_paths(message or outcome.message)
        return (
            Stop("refused", "%s: %s" % (name, reason))
            if reason
            else Stop("failed", "%s ended with exit code %d and no reason" % (name, outcome.code))
        )

    def _generate(self, section, *arguments):
        """The report of sframe-gen."""
        outcome = self._run(
            "sframe-gen",
            [
                self.elf.path,
                "-o",
                self._path(section),
                "--emit=section",
                "-j1",
                "--report=json",
                "--report-file",
                self._path("gen.json"),
                "--allow-missing",
                *self.options.gen_options,
                *arguments,
            ],
        )
        try:
            report = report_json.Report(self._path("gen.json"), "origins").rest()
        except (OSError, report_json.Unreadable) as error:
            raise Stop(
                "failed", "sframe-gen: %s" % (self._without_paths(outcome.message) or error)
            ) from None
        if "error" in report:
            raise self._refusal("sframe-gen", report["error"].get("message", ""), outcome)
        return report, outcome

    def _verify_arguments(self, *arguments):
        folders = [
            argument for folder in self.debug_folders for argument in ("--debug-dir", folder)
        ]
        return [
            self.elf.path,
            "-j1",
            "--format=json",
            "-o",
            self._path("verify.json"),
            *folders,
            *arguments,
        ]

    def _verify(self, *arguments):
        """The report of sframe-verify, opened."""
        outcome = self._run("sframe-verify", self._verify_arguments(*arguments))
        try:
            return report_json.Report(self._path("verify.json"), "findings"), outcome
        except OSError:
            raise self._refusal("sframe-verify", "", outcome) from None

    def _fail(self, error):
        self.values["state"], self.values["failure"] = "failed", "%s: %s" % (
            type(error).__name__,
            self._without_paths(str(error)),
        )

    def failed(self, error):
        """The Record of a file of which nothing can be kept."""
        self._fail(error)
        return self._record()

    def _drop_implausible(self):
        """Numbers in reports about a hostile file, where no column holds them."""
        wrong = [(self.values, name) for name in store.too_large(self.values)] + [
            (row, name)
            for rows in self.rows.values()
            for row in rows
            for name in store.too_large(row)
        ]
        if wrong and self.values["state"] not in ("failed", "refused"):
            values, name = wrong[0]
            self.values.update(
                state="failed", failure="implausible: %s is %d" % (name, values[name])
            )
        self.values.update(dict.fromkeys(store.too_large(self.values)))
        self.rows = {
            table: [row for row in rows if not store.too_large(row)]
            for table, rows in self.rows.items()
        }

    def _record(self):
        self._drop_implausible()
        self.values.update(
            language=self.origin.language,
            compiler=self.origin.compiler,
            compiler_from=self.origin.source,
        )
        return Record(self.values, self.rows)

    def all(self):
        try:
            self.origin = origin.origin_of(self.elf)
            try:
                self._convert()
            except Stop as stop:
                if stop.state == "skipped":
                    self._all_sources()
                raise
            if not self.options.coverage_only:
                self._sizes()
                self._findings()
            self._all_sources()
        except Stop as stop:
            if stop.state != "skipped":
                scratch.raise_if_program_met_full(self._message, self.folder)
            # What was measured before stays.
            self.values["state"], self.values["failure"] = stop.state, stop.failure
        except Exception as error:  # whatever a hostile file, or the report of it, brings about
            scratch.raise_if_full(error, self.folder)
            scratch.raise_if_program_met_full(self._message, self.folder)
            self._fail(error)
        return self._record()

    def _convert(self):
        report, outcome = self._generate("section", "--sframe-version=" + self.options.version)
        pc, executable = report["pc_bytes"], report.get(
            "executable_bytes", {"total": None, "covered": None}
        )
        self.values.update(
            executable_bytes=executable["total"], covered_bytes=executable["covered"]
        )
        if "unconverted" in report:
            raise Stop("skipped", report["unconverted"])
        self.values.update(
            cfi_bytes=pc["total"],
            covered_cfi_bytes=pc["covered"],
            sframe_shared=report["sizes"]["sframe"],
            fdes=report["fdes"],
            rows=report["rows"],
            functions=report["functions"]["total"],
            functions_partial=report["functions"]["partial"],
            functions_left_out=report["functions"]["skipped"],
            gen_seconds=outcome.seconds,
        )
        self.rows["reason"] = _reasons(report)
        left_out = report["left_out"]
        left_out.sort(key=lambda entry: (-entry["size"], int(entry["start"], 16)))
        self.rows["left_out"] = [
            {
                "number": number,
                "start": entry["start"],
                "size": entry["size"],
                "function": entry["name"],
                "reason": entry["reason"],
            }
            for number, entry in enumerate(left_out[:MAX_LEFT_OUT])
        ]

    def _sizes(self):
        for column, option in (
            ("sframe_unshared", "--no-share"),
            ("sframe_optimized", "--optimize=size"),
        ):
            self.values[column] = self._generate(
                "other", "--sframe-version=" + self.options.version, option
            )[0]["sizes"]["sframe"]

    def _findings(self):
        self._check(
            _function_starts(self._path("section")) if self.options.version == "3" else None
        )
        self._profiles()
        self._compilers()
        self._evidence()

    def _all_sources(self):
        """What a section from all sources covers. Of a kernel, its own table is one of them."""
        if any(option.startswith("--from") for option in self.options.gen_options):
            return
        report, outcome = self._generate(
            "other", "--sframe-version=" + self.options.version, "--from=all"
        )
        if "unconverted" in report:
            return
        pc = report["pc_bytes"]
        self.rows["all_sources"] = [
            {
                "covered_bytes": report["executable_bytes"]["covered"],
                "go_bytes": pc.get("go", 0),
                "stub_bytes": pc["stubs"] + pc["stubs_with_wrong_cfi"],
                "code_bytes": pc["code"],
                "sframe": report["sizes"]["sframe"],
                "seconds": outcome.seconds,
                "memory": outcome.memory,
            }
        ]
        self.rows["all_reason"] = _reasons(report)
        if padding := report["executable_bytes"]["padding"]:
            self.rows["all_reason"].append({"reason": "padding", "count": 1, "bytes": padding})

    def _count_findings(self, report, profile, starts, wanted):
        """Rows of finding_count and finding, for those whose ID is wanted."""
        counts, functions = {}, {}
        for finding in report.objects():
            if not wanted(finding["id"]):
                continue
            key = (profile, finding["id"], finding["severity"], int(finding.get("in_cfi", False)))
            number = counts[key] = counts.get(key, 0) + 1
            if finding["pc"]:
                pc = int(finding["pc"], 16)
                functions.setdefault(key, set()).add(
                    bisect.bisect_right(starts, pc) if starts else finding["function"] or pc
                )
            if finding["severity"] != "note" and number <= MAX_FINDINGS:
                source = "%s:%d" % (finding["file"], finding["line"]) if "file" in finding else None
                self.rows["finding"].append(
                    {
                        **dict(zip(("profile", "id", "severity", "in_cfi"), key)),
                        "number": number - 1,
                        "source": source,
                        "evidence": None,
                        "message": self._without_paths(finding["message"]),
                        "instruction": finding.get("instruction"),
                        **{
                            name: finding[name]
                            for name in ("function", "pc", "end", "sframe", "cfi", "code")
                        },
                    }
                )
        self.rows["finding_count"] += [
            {
                **dict(zip(("profile", "id", "severity", "in_cfi"), key)),
                "findings": count,
                "functions": len(functions.get(key, ())),
            }
            for key, count in counts.items()
        ]

    def _summary(self, report, outcome):
        """Of a report that was read; Stop if the file could not be verified."""
        file = report.rest()["files"][0]
        if "error" in file:
            raise self._refusal("sframe-verify", file["error"].get("message", ""), outcome)
        return file["summary"]

    def _check(self, starts):
        report, outcome = self._verify("--sframe", self._path("section"))
        self._count_findings(report, "spec", starts, lambda name: True)
        summary = self._summary(report, outcome)
        for name in (
            "agree",
            "contradiction",
            "contradiction_in_cfi",
            "undecided",
            "unreached",
            "errors",
            "warnings",
            "notes",
            "addresses",
        ):
            self.values[name] = summary[name]
        self.values["verify_seconds"] = outcome.seconds

    def _profiles(self):
        for reader, (version, abis) in READERS.items():
            if self.elf.abi not in abis:
                continue
            # Version 2 reaches 2 GiB: an address in the file.
            address = "--section-address=%#x" % self.elf.section_address(".eh_frame")
            generated, _ = self._generate("other", "--for=" + reader, address)
            if "unconverted" in generated:
                continue
            report, outcome = self._verify(
                "--sframe",
                self._path("other"),
                "--sframe-address",
                address.partition("=")[2],
                "--profile=" + reader,
                "--check=structure",
            )
            self._count_findings(report, reader, None, lambda name: name.startswith("P"))
            summary = self._summary(report, outcome)
            self.rows["profile"].append(
                {
                    "reader": reader,
                    "version": version,
                    "sframe": generated["sizes"]["sframe"],
                    "covered_bytes": generated["executable_bytes"]["covered"],
                    "covered_cfi_bytes": generated["pc_bytes"]["covered"],
                    "errors": summary["errors"],
                    "warnings": summary["warnings"],
                }
            )

    def _compilers(self):
        """Wrong rows of the CFI by pattern, where the code contradicts it; and the compilers, if
        there is debug information."""
        if not self.values["debug"] and not any(
            row["in_cfi"] and IN_CODE.match(row["id"]) for row in self.rows["finding_count"]
        ):
            return
        outcome = self._run("sframe-verify", self._verify_arguments("--compiler-bugs"))
        if outcome.code == 2:
            raise self._refusal("sframe-verify --compiler-bugs", "", outcome)
        report = report_json.load(self._path("verify.json"))
        self.origin = origin.with_producers(
            self.origin,
            [
                compiler["name"]
                for compiler in report["compilers"]
                if compiler["from"] == "DW_AT_producer"
            ],
        )
        rows = {}
        for compiler in report["compilers"]:
            # Without debug information it has all strings of .comment.
            name = (
                (origin.normalized(compiler["name"]) or compiler["name"])
                if compiler["from"] == "DW_AT_producer"
                else self.origin.compiler
            )
            for group in compiler["groups"]:
                row = rows.setdefault(
                    (name, group["title"]),
                    {"places": 0, "bytes": 0, "functions": 0, "example": None},
                )
                for key in ("places", "bytes", "functions"):
                    row[key] += group[key]
                example = {**group["example"], "path": self.values["path"]}
                row["example"] = row["example"] or json.dumps(example, sort_keys=True)
        self.rows["wrong_cfi"] = [
            {"compiler": compiler, "pattern": pattern, **row}
            for (compiler, pattern), row in sorted(rows.items())
        ]

    def _evidence(self):
        """One worked example of each kind of finding: the first one that is in a function."""
        done = set()
        for row in self.rows["finding"]:
            key = (row["profile"], row["id"], row["severity"], row["in_cfi"])
            if row["profile"] == "spec" and row["pc"] and key not in done:
                done.add(key)
                row["evidence"] = json.dumps(self._example(row), sort_keys=True)

    def _example(self, row):
        at = int(row["pc"], 16)
        example = {
            "function": row["function"],
            "at": row["pc"],
            "start": None,
            "size": None,
            "instructions": [],
            "rows": [],
            **{name: row[name] for name in ("sframe", "cfi", "code")},
        }
        self._run(
            "sframe-dump",
            [self._path("section"), "--raw", "--address", row["pc"], "--format=json"],
            stdout="dump.json",
        )
        sections = [
            section
            for file in report_json.load(self._path("dump.json"))["files"]
            for section in file["sections"]
        ]
        functions = [function for section in sections for function in section.get("functions", ())]
        first = at
        if functions:
            function = functions[-1]
            start = int(function["start"], 16)
            example.update(start=function["start"], size=function["size"])
            repeats = function["pc_type"] == "mask"
            offset = (
                (at - start) % function["rep_size"]
                if repeats and function["rep_size"]
                else at - start
            )
            starts = [entry["offset"] for entry in function["rows"]]
            here = max(bisect.bisect_right(starts, offset) - 1, 0)
            shown = function["rows"][max(here - 4, 0) : here + 4]
            example["rows"] = [
                {
                    "address": "%#x" % (at - offset + entry["offset"]),
                    **{name: entry[name] for name in ("cfa", "ra", "fp")},
                }
                for entry in shown
            ]
            if shown:
                first = min(at, at - offset + shown[0]["offset"])
        instructions = _disassembled(
            self.elf, first, max(at + 64, int(row["end"] or row["pc"], 16))
        )
        index = next(
            (
                number
                for number, entry in enumerate(instructions)
                if int(entry["address"], 16) >= at
            ),
            0,
        )
        begin = max(0, min(index - INSTRUCTIONS // 2, len(instructions) - INSTRUCTIONS))
        example["instructions"] = instructions[begin : begin + INSTRUCTIONS]
        return example


TRIPLES = {
    "amd64": ["--triple=x86_64"],
    "aarch64": ["--triple=aarch64", "-mattr=+all"],
    "aarch64_be": ["--triple=aarch64_be", "-mattr=+all"],
    "s390x": ["--triple=s390x"],
}


def _llvm_mc():
    """The newest one in PATH."""
    names = {
        os.path.basename(path)
        for folder in os.get_exec_path()
        for path in glob.glob(os.path.join(glob.escape(folder), "llvm-mc-[0-9]*"))
    }
    versions = sorted(
        (name for name in names if name[8:].isdigit()), key=lambda name: int(name[8:])
    )
    return shutil.which(versions[-1] if versions else "llvm-mc")


def _disassembled(file, start, end):
    """Objects with address and text; none without llvm-mc. It gets a few bytes of code, one in a
    line, and no file: it is not made for hostile ones."""
    code, program = file.loaded_bytes(start, min(end - start, 1024)), _llvm_mc()
    if not code or not program:
        return []
    try:
        done = subprocess.run(
            [program, "--disassemble", "--show-encoding", *TRIPLES[file.abi]],
            input="".join("0x%02x\n" % byte for byte in code),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    # The rest of what cannot be decoded has no sure address.
    invalid = re.search(r"^<stdin>:(\d+):", done.stderr, re.M)
    last, address, instructions = start + (int(invalid[1]) - 1 if invalid else len(code)), start, []
    for text, encoding in re.findall(
        r"^\s*(\S.*?)\s+(?:#|//) encoding: \[(.*?)\]", done.stdout, re.M
    ):
        size = encoding.count(",") + 1
        if address + size > last:
            break
        instructions.append({"address": "%#x" % address, "text": re.sub(r"\s+", " ", text)})
        address += size
    return instructions


def failed(file, path, options, error):
    """The Record of a file that could not be measured, or whose Record cannot be stored, for that
    exception."""
    return _Measuring(file, path, "", options, None).failed(error)


def measure(file, path, folder, options, debug_folder=None):
    """The Record of an ElfFile, whose place in its package is `path`. `folder` is for files of this
    call, and `debug_folder` may have debug files by build ID."""
    try:
        os.makedirs(folder, exist_ok=True)
        return _Measuring(file, path, folder, options, debug_folder).all()
    except OSError as error:
        scratch.raise_if_full(error, folder)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
