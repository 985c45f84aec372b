#: about   Two objects are joined by -r, then linked.
#: link    -r -o both.o one.o two.o
#: link    -shared -o out.so both.o
#: check   one-section no-stray
#: objects link-merge
