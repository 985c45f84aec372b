/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What kernel/unwind/sframe.c of a Linux tree needs of the kernel, for a program: included before it by
 * linux.c. Own code, written from what the names mean (Documentation/core-api of the kernel); none of the
 * kernel's. "User memory" is one range of this program's memory, kernel_section_memory; a read outside it
 * fails as a page fault would. Where kernel_foreign_order is set, numbers read from it have their bytes
 * swapped, so that a big-endian target's section is read as on that target.
 */

#pragma once

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define __user
#define __init
#undef __packed
#define __packed __attribute__((packed))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define BIT(n) (1UL << (n))
#define container_of(pointer, type, member) ((type*)((char*)(pointer)-offsetof(type, member)))
#define no_printk(...) ((void)0)

extern unsigned reader_warnings; /* of reader.h */
#define WARN_ON_ONCE(condition) ((condition) ? (++reader_warnings, 1) : 0)

/* Locks: one thread runs here. */
struct srcu_struct {
  int unused;
};
struct rcu_head {
  int unused;
};
#define DEFINE_STATIC_SRCU(name) static __attribute__((unused)) struct srcu_struct name
#define guard(kind) (void)
#define scoped_guard(kind, lock)
#define call_srcu(srcu, head, function) ((void)(srcu), (function)(head))

#define GFP_KERNEL 0
#define kzalloc(size, flags) calloc(1, size)
#define kfree(pointer) free((void*)(pointer))

/* The index of sections by text address: one section at a time here. */
struct maple_tree {
  unsigned long first, last;
  void* entry;
};
static inline void* mtree_load(struct maple_tree* tree, unsigned long index) {
  return tree->entry && index >= tree->first && index <= tree->last ? tree->entry : NULL;
}
static inline int mtree_insert_range(struct maple_tree* tree, unsigned long first, unsigned long last,
                                     void* entry, int flags) {
  (void)flags;
  if (tree->entry || first > last) return -EEXIST;
  *tree = (struct maple_tree){first, last, entry};
  return 0;
}
static inline void* mtree_erase(struct maple_tree* tree, unsigned long index) {
  void* entry = mtree_load(tree, index);
  if (entry) tree->entry = NULL;
  return entry;
}
static inline void mtree_destroy(struct maple_tree* tree) {
  tree->entry = NULL;
}
#define mtree_empty(tree) (!(tree)->entry)
#define mt_for_each(tree, found, index, max)                                                                 \
  for ((found) = (index) == 0 ? (tree)->entry : NULL; (found); (found) = NULL, (index) = (max))

/* The process and its mappings. */
#define VM_EXEC 4UL
struct vm_area_struct {
  unsigned long vm_start, vm_end, vm_flags;
};
struct mm_struct {
  struct maple_tree sframe_mt;
};
struct task_struct {
  struct mm_struct* mm;
};
extern struct task_struct kernel_task;
#define current (&kernel_task)

extern struct vm_area_struct kernel_section_memory, kernel_text_memory;
static inline struct vm_area_struct* vma_lookup(struct mm_struct* mm, unsigned long address) {
  (void)mm;
  struct vm_area_struct* const all[] = {&kernel_section_memory, &kernel_text_memory};
  for (unsigned i = 0; i < 2; ++i)
    if (address >= all[i]->vm_start && address < all[i]->vm_end) return all[i];
  return NULL;
}

/* Reads of user memory. */
extern bool kernel_foreign_order;
static inline void kernel_swap(void* at, size_t size) {
  unsigned char* bytes = at;
  for (size_t i = 0; i < size / 2; ++i) {
    const unsigned char byte = bytes[i];
    bytes[i] = bytes[size - 1 - i];
    bytes[size - 1 - i] = byte;
  }
}
static inline bool kernel_read(void* to, unsigned long from, size_t size) {
  if (from < kernel_section_memory.vm_start || from > kernel_section_memory.vm_end ||
      kernel_section_memory.vm_end - from < size)
    return false;
  memcpy(to, (const void*)from, size);
  return true;
}
/* A structure of the format, which its size identifies: header, index entry, attribute of version 3. */
static inline bool kernel_read_structure(void* to, unsigned long from, size_t size) {
  if (!kernel_read(to, from, size)) return false;
  if (!kernel_foreign_order) return true;
  static const unsigned char header[] = {2, 1, 1, 1, 1, 1, 1, 4, 4, 4, 4, 4}, entry[] = {8, 4, 4},
                             attribute[] = {2, 1, 1, 1};
  const unsigned char* const layout = size == 28 ? header : size == 16 ? entry : size == 5 ? attribute : NULL;
  if (!layout) abort();
  char* at = to;
  for (unsigned field = 0; at < (char*)to + size; at += layout[field++]) kernel_swap(at, layout[field]);
  return true;
}
#define user_read_access_begin(from, size) (true)
#define user_read_access_end() ((void)0)
#define unsafe_get_user(to, from, label)                                                                     \
  do {                                                                                                       \
    __typeof__(*(from)) value_;                                                                              \
    if (!kernel_read(&value_, (unsigned long)(from), sizeof value_)) goto label;                             \
    if (kernel_foreign_order) kernel_swap(&value_, sizeof value_);                                           \
    (to) = value_;                                                                                           \
  } while (0)
#define unsafe_copy_from_user(to, from, size, label)                                                         \
  do {                                                                                                       \
    if (!kernel_read_structure(to, (unsigned long)(from), size)) goto label;                                 \
  } while (0)
static inline unsigned long copy_from_user(void* to, const void* from, size_t size) {
  return kernel_read_structure(to, (unsigned long)from, size) ? 0 : size;
}

#define SYSCALL_DEFINE5(name, t1, a1, t2, a2, t3, a3, t4, a4, t5, a5)                                        \
  long sys_##name(t1 a1, t2 a2, t3 a3, t4 a4, t5 a5)
long sys_stacktrace_setup(int, unsigned long, unsigned long, unsigned long, unsigned long);

/* The tree's options: its reader of user space, with the checks of CONFIG_SFRAME_VALIDATION. */
#define CONFIG_SFRAME_LOOKUP 1
#define CONFIG_UNWIND_SFRAME_LOOKUP 1
#define CONFIG_HAVE_UNWIND_USER_SFRAME 1
#define CONFIG_SFRAME_VALIDATION 1
#define CONFIG_X86_64 1
