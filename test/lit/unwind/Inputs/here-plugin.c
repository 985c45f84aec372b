// A plug-in that calls back from a frame of ROOM bytes. With other numbers the code has the same size, so
// that another plug-in fits into the place of one that was unloaded, with equal addresses and other rows.
// -DMANY: with 4096 more functions.
void callback(void (*function)(void)) {
  volatile char room[ROOM];
  room[0] = 0;
  function();
  room[ROOM - 1] = 0;
}

#ifdef MANY
__asm__(".text\n.rept 4096\n.cfi_startproc\n.p2align 2,0\n.long 0\n.cfi_endproc\n.endr");
#endif
