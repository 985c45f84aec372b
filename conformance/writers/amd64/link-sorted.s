#: about   The flag SORTED is set, and the functions are sorted.
#: level   minimal
#: link    -shared -o out.so one.o two.o
#: check   sorted
#: objects link-merge
