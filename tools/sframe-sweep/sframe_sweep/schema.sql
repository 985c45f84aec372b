-- The database of sframe-sweep, version 1 (PRAGMA user_version); docs/sframe-sweep.md describes it.
-- Bytes are sizes in bytes, seconds are processor time. Addresses are text, '0x401000': SQLite's integers have a sign.

-- One row for each start of `sframe-sweep run`.
CREATE TABLE run (
  id TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  started TEXT NOT NULL,              -- UTC, ISO 8601
  finished TEXT,                      -- NULL: it was ended from outside, or still runs
  shard TEXT NOT NULL,                -- '3/100'
  jobs INTEGER NOT NULL,
  command TEXT NOT NULL,
  programs TEXT NOT NULL,             -- version of sframe-gen and sframe-verify
  elapsed REAL                        -- seconds by the clock
) WITHOUT ROWID;

-- One row for each package that is done: an archive, an installed package, a folder of files.
CREATE TABLE package (
  id TEXT PRIMARY KEY,                -- file name of a .deb or .rpm; 'dpkg:bash:amd64=5.2-1', 'rpm:bash-5.2-1.x86_64'; path of others
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  architecture TEXT NOT NULL,
  kind TEXT NOT NULL,                 -- deb, rpm, tar, dpkg, rpmdb, folder
  path TEXT NOT NULL,                 -- as it was given
  state TEXT NOT NULL CHECK (state IN ('done', 'failed')),
  failure TEXT,                       -- only if it failed; the files found before that are there
  bytes INTEGER NOT NULL,             -- of the archive
  unpacked_bytes INTEGER NOT NULL,    -- of all regular files in it
  members INTEGER NOT NULL,           -- regular files
  elf_files INTEGER NOT NULL,         -- those that are in table location
  other_elf_files INTEGER NOT NULL,   -- objects, modules of the kernel, 32 bits, other machines
  debug_package TEXT,                 -- file name of the package with its debug files, if there is one
  seconds REAL NOT NULL               -- to unpack it
) WITHOUT ROWID;

-- One row for each distinct linked ELF file.
CREATE TABLE file (
  id TEXT PRIMARY KEY,                -- build ID and digest of the contents; 'sha256:...' if it has no build ID
  package TEXT NOT NULL,              -- where the copy that was measured is
  path TEXT NOT NULL,
  abi TEXT NOT NULL,                  -- amd64, aarch64, aarch64_be, s390x
  kind TEXT NOT NULL,                 -- executable, static (executable without PT_INTERP), library
  language TEXT NOT NULL,             -- C, C++, Rust, Go, ... : the most specific one that it shows
  compiler TEXT NOT NULL,             -- 'GCC 12.2.0'; 'unknown' if it is not recorded
  compiler_from TEXT,                 -- DW_AT_producer, .comment, .go.buildinfo, code (traces of a run-time library); NULL: unknown
  debug INTEGER NOT NULL,             -- 1: it has debug information, or a debug file was used
  state TEXT NOT NULL CHECK (state IN ('measured', 'skipped', 'refused', 'failed')),
  failure TEXT,                       -- why it is not measured, or not completely
  file_bytes INTEGER NOT NULL,
  loaded_bytes INTEGER NOT NULL,      -- PT_LOAD, in the file
  eh_frame INTEGER NOT NULL,
  eh_frame_hdr INTEGER NOT NULL,
  debug_frame INTEGER NOT NULL,
  sframe_linked INTEGER NOT NULL,     -- of the .sframe that the linker made; 0: none
  -- The columns from here on are NULL if nothing could be converted.
  executable_bytes INTEGER,
  covered_bytes INTEGER,              -- of these, by the new section
  cfi_bytes INTEGER,                  -- code that CFI describes
  covered_cfi_bytes INTEGER,
  sframe_unshared INTEGER,            -- bytes of version 3 with --no-share,
  sframe_shared INTEGER,              --   by default,
  sframe_optimized INTEGER,           --   with --optimize=size
  fdes INTEGER,                       -- of the default section
  rows INTEGER,
  functions INTEGER,                  -- FDEs of the CFI
  functions_partial INTEGER,
  functions_left_out INTEGER,
  -- Of sframe-verify; NULL if it could not be verified.
  agree INTEGER,
  contradiction INTEGER,
  contradiction_in_cfi INTEGER,
  undecided INTEGER,
  unreached INTEGER,
  errors INTEGER,
  warnings INTEGER,
  notes INTEGER,
  addresses INTEGER,                  -- bytes of code that were compared with the CFI
  gen_seconds REAL,                   -- sframe-gen, the default section
  verify_seconds REAL,                -- sframe-verify, structure, CFI and code
  seconds REAL NOT NULL,              -- all programs
  memory INTEGER NOT NULL             -- bytes, the largest of all programs
) WITHOUT ROWID;
CREATE INDEX file_package ON file (package);

-- Each place where a file is.
CREATE TABLE location (
  package TEXT NOT NULL,
  path TEXT NOT NULL,
  file TEXT NOT NULL,
  PRIMARY KEY (package, path)
) WITHOUT ROWID;
CREATE INDEX location_file ON location (file);

-- Sections for one reader each (sframe-gen --for, sframe-verify --profile).
CREATE TABLE profile (
  file TEXT NOT NULL,
  reader TEXT NOT NULL,               -- linux, glibc
  version INTEGER NOT NULL,
  sframe INTEGER NOT NULL,            -- bytes
  covered_bytes INTEGER NOT NULL,     -- of executable_bytes
  covered_cfi_bytes INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  warnings INTEGER NOT NULL,
  PRIMARY KEY (file, reader)
) WITHOUT ROWID;

-- What was left out of the default section, by the reasons of sframe-gen.
CREATE TABLE reason (
  file TEXT NOT NULL,
  reason TEXT NOT NULL,
  count INTEGER NOT NULL,
  bytes INTEGER NOT NULL,             -- of the ranges in which it is the reason
  PRIMARY KEY (file, reason)
) WITHOUT ROWID;

-- A section from all sources (sframe-gen --from=all): Go's table, CFI, stubs and code. No row: nothing could be converted.
CREATE TABLE all_sources (
  file TEXT PRIMARY KEY,
  covered_bytes INTEGER NOT NULL,     -- of file.executable_bytes
  go_bytes INTEGER NOT NULL,          -- of these: by Go's function table,
  stub_bytes INTEGER NOT NULL,        --   from the instructions of stubs,
  code_bytes INTEGER NOT NULL,        --   from those of other code; the rest is by CFI
  sframe INTEGER NOT NULL,            -- bytes
  seconds REAL NOT NULL,
  memory INTEGER NOT NULL             -- bytes
) WITHOUT ROWID;

-- What was left out of it, and padding between functions. The rest that it does not cover is in no function that was
-- found: data, code.
CREATE TABLE all_reason (
  file TEXT NOT NULL,
  reason TEXT NOT NULL,
  count INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (file, reason)
) WITHOUT ROWID;

-- The largest of the ranges that were left out of the default section, at most 100 of a file.
CREATE TABLE left_out (
  file TEXT NOT NULL,
  number INTEGER NOT NULL,            -- from 0, the largest first
  start TEXT NOT NULL,
  size INTEGER NOT NULL,
  function TEXT NOT NULL,             -- raw name; '' if there is none
  reason TEXT NOT NULL,
  PRIMARY KEY (file, number)
) WITHOUT ROWID;

-- All findings of sframe-verify, counted. profile is 'spec', or a reader.
CREATE TABLE finding_count (
  file TEXT NOT NULL,
  profile TEXT NOT NULL,
  id TEXT NOT NULL,                   -- 'K201', see findings.md
  severity TEXT NOT NULL,             -- error, warning, note
  in_cfi INTEGER NOT NULL,            -- 1: the CFI has the same rule, and the code contradicts both
  findings INTEGER NOT NULL,
  functions INTEGER NOT NULL,         -- in how many functions they are
  PRIMARY KEY (file, profile, id, severity, in_cfi)
) WITHOUT ROWID;

-- Errors and warnings, at most 100 of each row of finding_count.
CREATE TABLE finding (
  file TEXT NOT NULL,
  profile TEXT NOT NULL,
  id TEXT NOT NULL,
  severity TEXT NOT NULL,
  in_cfi INTEGER NOT NULL,
  number INTEGER NOT NULL,            -- from 0, in the order of the report
  function TEXT,                      -- demangled; NULL if there is no symbol
  pc TEXT,
  end TEXT,
  message TEXT NOT NULL,
  sframe TEXT,                        -- the rules: 'cfa=sp+16 ra=[cfa-8] fp=same'
  cfi TEXT,
  code TEXT,
  instruction TEXT,
  source TEXT,                        -- 'file.c:12'
  evidence TEXT,                      -- only of one of each (file, profile, id, severity, in_cfi): JSON, see below
  PRIMARY KEY (file, profile, id, severity, in_cfi, number)
) WITHOUT ROWID;
CREATE INDEX finding_id ON finding (id);

-- Rows of the CFI that the code proves wrong (sframe-verify --compiler-bugs), by compiler and pattern.
CREATE TABLE wrong_cfi (
  file TEXT NOT NULL,
  compiler TEXT NOT NULL,
  pattern TEXT NOT NULL,              -- 'the row changes late, after add (SP up): the CFA is too high'
  places INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  functions INTEGER NOT NULL,
  example TEXT NOT NULL,              -- JSON, as sframe-verify prints it
  PRIMARY KEY (file, compiler, pattern)
) WITHOUT ROWID;
