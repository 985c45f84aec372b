#: about   Two objects become one section, in a static executable at fixed addresses.
#: link    -static -e f -o out one.o two.o
#: check   one-section no-stray
#: objects link-merge
