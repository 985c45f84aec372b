#: about   A segment of type PT_GNU_SFRAME has the section, and nothing else.
#: spec    1.1
#: link    -shared -o out.so one.o two.o
#: check   segment
#: objects link-merge
