// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// s390x: the translation-exception identification has the page of a fault only (z/Architecture Principles of
// Operation, "Assigned Storage Locations", 168-175; Linux arch/s390/mm/fault.c).

#include "fault_abi.h"

#include "sframe/address.h"

namespace sframe::crash::abi {

const FaultAbi s390x = {.unknown_address_bits = smallest_page - 1};

} // namespace sframe::crash::abi
