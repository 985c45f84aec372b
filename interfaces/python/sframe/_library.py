# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libsframe-c.so as ctypes sees it: the structs and functions of sframe/c/*.h that the package
uses."""
import ctypes
import glob
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_int,
    c_int8,
    c_int32,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)

SONAME = "libsframe-c.so.0"

OK, NO_MEMORY, BAD_REGISTER, NO_INFO, UNREADABLE = 0, 2, 3, 10, 12
STATUSES = (
    "ok",
    "unspecified",
    "no-memory",
    "bad-register",
    "read-only",
    "stop",
    "bad-address",
    "bad-frame",
    "invalid",
    "bad-table",
    "no-info",
    "refused",
    "unreadable",
)
UNKNOWN = 0xFFFFFFFF
BASE_CFA = 0xFFFF
PC = 0xFFFF
FAULT_LAST, FAULT_FIRST = 0, 1
ACCESSES = ("unknown", "read", "write", "read_write", "execute")


class Sized(Structure):
    """A struct that starts with its size, which the constructor sets."""

    def __init__(self, *args, **named):
        super().__init__(ctypes.sizeof(type(self)), *args, **named)


class Error(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("status", c_int),
        ("message", c_char * 256),
        ("function", c_uint32),
        ("row", c_uint32),
        ("offset", c_uint64),
    ]


class SectionInfo(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("address", c_uint64),
        ("length", c_uint64),
        ("abi", c_char_p),
        ("bytes", c_void_p),
        ("aux_header", c_void_p),
        ("aux_header_size", c_uint32),
        ("byte_order", c_int),
        ("num_functions", c_uint32),
        ("num_rows", c_uint32),
        ("version", c_uint8),
        ("flags", c_uint8),
        ("fixed_fp_offset", c_int8),
        ("fixed_ra_offset", c_int8),
        ("reserved", c_uint32),
    ]


class Function(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("start", c_uint64),
        ("length", c_uint32),
        ("block_size", c_uint32),
        ("pauth_key_b", c_int),
        ("signal_frame", c_int),
        ("flexible", c_int),
        ("outermost", c_int),
        ("number", c_uint32),
        ("num_rows", c_uint32),
        ("offset_size", c_uint32),
        ("reserved", c_uint32),
        ("index_offset", c_uint64),
        ("rows_offset", c_uint64),
    ]


class Rule(Structure):
    _fields_ = [("kind", c_uint8), ("reserved", c_uint8), ("base", c_uint16), ("offset", c_int32)]


class Row(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("offset", c_uint32),
        ("ra_signed", c_int),
        ("cfa", Rule),
        ("ra", Rule),
        ("fp", Rule),
    ]


class Options(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("executable", c_char_p),
        ("sysroot", c_char_p),
        ("sframe_dir", c_char_p),
        ("debug_dir", c_char_p),
        ("no_files", c_int),
        ("trust_all", c_int),
        ("no_limits", c_int),
        ("reserved", c_int),
    ]


class ProcessInfo(Sized):
    _fields_ = [("size", c_size_t), ("pid", c_uint32), ("signal", c_int32), ("name", c_char_p)]


class Thread(Sized):
    _fields_ = [("size", c_size_t), ("tid", c_uint32), ("signal", c_int32), ("name", c_char_p)]


class Frame(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("number", c_uint32),
        ("pc_exact", c_int),
        ("signal_frame", c_int),
        ("has_cfa", c_int),
        ("heuristic", c_int),
        ("reserved", c_int),
        ("pc", c_uint64),
        ("lookup_pc", c_uint64),
        ("cfa", c_uint64),
        ("found_by", c_char_p),
        ("known_registers", c_uint64),
        ("registers", c_uint64 * 34),
    ]


class End(Sized):
    _fields_ = [("size", c_size_t), ("complete", c_int), ("why", c_int), ("reason", c_char * 128)]


class SourceLine(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("function", c_char_p),
        ("file", c_char_p),
        ("line", c_uint32),
        ("reserved", c_uint32),
    ]


class Module(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("start", c_uint64),
        ("end", c_uint64),
        ("bias", c_uint64),
        ("path", c_char_p),
        ("build_id", POINTER(c_uint8)),
        ("build_id_size", c_size_t),
        ("problem", c_char_p),
        ("is_main", c_int),
        ("is_generated", c_int),
    ]


class CrashInfo(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("tid", c_uint32),
        ("has_sender", c_int),
        ("sender", c_uint32),
        ("sender_user", c_uint32),
        ("message", c_char_p),
        ("signature", c_char_p),
        ("signature_frames", POINTER(c_char_p)),
        ("num_signature_frames", c_size_t),
        ("arguments", POINTER(c_char_p)),
        ("num_arguments", c_size_t),
        ("command_line", c_char_p),
        ("arguments_cut", c_int),
        ("reserved", c_int),
    ]


class Fault(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("signal", c_int32),
        ("frame", c_uint32),
        ("signal_name", c_char_p),
        ("has_code", c_int),
        ("code", c_int32),
        ("code_name", c_char_p),
        ("meaning", c_char_p),
        ("guess", c_char_p),
        ("access", c_int),
        ("has_address", c_int),
        ("address", c_uint64),
        ("pc", c_uint64),
        ("instruction", c_char_p),
        ("num_registers", c_size_t),
    ]


RowCallback = CFUNCTYPE(c_int, POINTER(Row), c_void_p)
FrameCallback = CFUNCTYPE(c_int, POINTER(Frame), c_void_p)
SourceCallback = CFUNCTYPE(c_int, POINTER(SourceLine), c_void_p)

# Result and arguments. Handles are void pointers.
FUNCTIONS = {
    "sframe_version": (c_uint32,),
    "sframe_version_text": (c_char_p,),
    "sframe_section_open": (c_void_p, c_char_p, c_size_t, c_uint64, POINTER(Error)),
    "sframe_section_close": (None, c_void_p),
    "sframe_section_get_info": (c_int, c_void_p, POINTER(SectionInfo)),
    "sframe_section_function": (c_int, c_void_p, c_uint32, POINTER(Function), POINTER(Error)),
    "sframe_section_rows": (c_int, c_void_p, c_uint32, RowCallback, c_void_p, POINTER(Error)),
    "sframe_section_find": (
        c_int,
        c_void_p,
        c_uint64,
        POINTER(Function),
        POINTER(Row),
        POINTER(Error),
    ),
    "sframe_rule_text": (c_int, c_char_p, POINTER(Rule), c_int, c_char_p, c_size_t),
    "sframe_file_open": (c_void_p, c_char_p, POINTER(Error)),
    "sframe_file_close": (None, c_void_p),
    "sframe_file_num_sections": (c_size_t, c_void_p),
    "sframe_file_section": (c_void_p, c_void_p, c_size_t),
    "sframe_file_find_cfi": (
        c_int,
        c_void_p,
        c_uint64,
        POINTER(c_uint64),
        POINTER(c_uint64),
        POINTER(Error),
    ),
    "sframe_open_core": (c_void_p, c_char_p, POINTER(Options), POINTER(Error)),
    "sframe_attach": (c_void_p, c_int, POINTER(Options), POINTER(Error)),
    "sframe_open_own": (c_void_p, POINTER(Options), POINTER(Error)),
    "sframe_stop": (c_int, c_void_p, POINTER(Error)),
    "sframe_resume": (None, c_void_p),
    "sframe_close": (None, c_void_p),
    "sframe_abi": (c_char_p, c_void_p),
    "sframe_get_process_info": (c_int, c_void_p, POINTER(ProcessInfo)),
    "sframe_num_threads": (c_size_t, c_void_p),
    "sframe_get_thread": (c_int, c_void_p, c_size_t, POINTER(Thread)),
    "sframe_walk": (
        c_int,
        c_void_p,
        c_size_t,
        FrameCallback,
        c_void_p,
        POINTER(End),
        POINTER(Error),
    ),
    "sframe_function_name": (
        c_int,
        c_void_p,
        POINTER(Frame),
        c_char_p,
        c_size_t,
        POINTER(c_uint64),
    ),
    "sframe_frame_at": (c_int, c_uint64, c_int, POINTER(Frame)),
    "sframe_source_lines": (c_int, c_void_p, POINTER(Frame), SourceCallback, c_void_p),
    "sframe_register_name": (c_char_p, c_char_p, c_uint16),
    "sframe_num_modules": (c_size_t, c_void_p),
    "sframe_get_module": (c_int, c_void_p, c_size_t, POINTER(Module)),
    "sframe_find_module": (c_int, c_void_p, c_uint64, POINTER(Module)),
    "sframe_crash_explain": (c_void_p, c_void_p, POINTER(Error)),
    "sframe_crash_close": (None, c_void_p),
    "sframe_crash_get_info": (c_int, c_void_p, POINTER(CrashInfo)),
    "sframe_crash_get_fault": (c_int, c_void_p, c_int, POINTER(Fault)),
    "sframe_crash_get_register": (
        c_int,
        c_void_p,
        c_int,
        c_size_t,
        POINTER(c_char_p),
        POINTER(c_uint64),
    ),
    "sframe_read_memory": (c_int, c_void_p, c_uint64, c_void_p, c_size_t, POINTER(c_size_t)),
}


def _places():
    """The library that SFRAME_LIBRARY names; else the one next to the package, else that of the
    prefix that the package was installed to (PREFIX/share/sframe/python), else the loader's."""
    named = os.environ.get("SFRAME_LIBRARY")
    if named:
        return [named]
    here = os.path.dirname(os.path.realpath(__file__))
    patterns = [glob.escape(here)]
    if here.endswith(os.path.join("share", "sframe", "python", "sframe")):
        prefix = glob.escape(os.path.normpath(os.path.join(here, *[os.pardir] * 4)))
        patterns += [
            os.path.join(prefix, "lib*"),
            os.path.join(prefix, "lib", "*"),
        ]  # several architectures
    return [
        path for pattern in patterns for path in sorted(glob.glob(os.path.join(pattern, SONAME)))
    ] + [SONAME]


def _load():
    for place in _places():
        try:
            library = ctypes.CDLL(place)
            for name, (result, *arguments) in FUNCTIONS.items():
                function = getattr(library, name)
                function.restype, function.argtypes = result, arguments
            return library
        except (OSError, AttributeError) as error:
            problem = "%s cannot be used: %s; SFRAME_LIBRARY names another one" % (place, error)
    raise ImportError(problem)


lib = _load()
