/* Binutils makes this header by configure; its tests use nothing of it. */
