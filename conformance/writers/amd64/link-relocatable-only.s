#: about   Two objects joined by -r: still one section, with relocations.
#: link    -r -o both.o one.o two.o
#: check   one-section
#: objects link-merge
