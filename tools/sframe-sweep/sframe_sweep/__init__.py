# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""sframe-sweep: converts and verifies the ELF files of many packages, and keeps the results in a
database (docs/sframe-sweep.md). Its parts, each of which uses only those above it:

  elf_file   headers of ELF files
  archives   the members of .deb, .rpm and tar archives
  inputs     what is asked for, as units: packages, installed packages, folders
  scratch    the folder that packages are unpacked in
  programs   runs a program with limits
  unpacking  a process that unpacks an archive
  origin     language and compiler of a file
  report_json  reads the reports of sframe-gen and sframe-verify
  measure    all about one file
  store      the database (schema.sql)
  sweep      the loop: units, files, database
  output     files that appear atomically
  summary    tables
  report     a page
  engines    shards on many machines: GNU parallel, Slurm
  cli        the command line
"""
