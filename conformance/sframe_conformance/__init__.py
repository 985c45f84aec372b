# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Proves readers and writers of SFrame right or wrong (docs/conformance.md). Standard library only,
and nothing of sframe-utils' own codec: it is one of those that are tested."""
