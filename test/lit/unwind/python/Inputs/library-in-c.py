"""library-in-c.py: what the package says of the C interface in _library.py, as assertions for a compiler
that has the headers: constants, the members of structs, the arguments of functions."""
import ctypes
import re

from sframe import _library as library

print(
    """#include <cstddef>
#include <initializer_list>
#include <sframe/c/crash.h>
#include <sframe/c/section.h>
#include <sframe/c/version.h>
#include <sframe/c/walk.h>

template <class T> constexpr std::size_t size = sizeof(T);
template <> constexpr std::size_t size<void> = 0;
template <class Result, class... Arguments>
constexpr bool has(Result (*)(Arguments...), std::initializer_list<std::size_t> sizes) {
  std::size_t at = 1, same = *sizes.begin() == size<Result>;
  ((same += at < sizes.size() && sizes.begin()[at] == sizeof(Arguments), ++at), ...);
  return at == sizes.size() && same == at;
}
"""
)


def claim(text):
    print("static_assert(%s);" % text)


for names, prefix in ((library.STATUSES, ""), (library.ACCESSES, "ACCESS_")):
    for number, name in enumerate(names):
        claim("SFRAME_%s%s == %d" % (prefix, name.upper().replace("-", "_"), number))
for name, value in vars(library).items():
    if isinstance(value, int):
        claim("SFRAME_%s == %d" % (name, value))
    elif (
        isinstance(value, type)
        and value.__module__ == library.__name__
        and hasattr(value, "_fields_")
    ):
        struct = "sframe" + re.sub("[A-Z]", lambda capital: "_" + capital[0].lower(), name)
        claim("sizeof(%s) == %d" % (struct, ctypes.sizeof(value)))
        for field, _ in value._fields_:
            place = getattr(value, field)
            member = (struct, field, place.offset, struct, field, place.size)
            claim("offsetof(%s, %s) == %d && sizeof(%s::%s) == %d" % member)
for name, types in library.FUNCTIONS.items():
    sizes = [ctypes.sizeof(one) if one else 0 for one in types]
    claim("has(%s, {%s})" % (name, ", ".join(map(str, sizes))))
