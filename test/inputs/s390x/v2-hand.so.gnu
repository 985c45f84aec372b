
v2-hand.so:     file format elf64-s390

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 3
    Num FREs: 10

  Function Index :

    func idx [0]: pc = 0x127c, size = 64 bytes
    STARTPC         CFA       FP        RA           
    000000000000127c  sp+160    u         u            
    0000000000001282  sp+160    c-72      c-48         
    0000000000001286  sp+320    c-72      c-48         
    000000000000128a  fp+320    c-72      c-48         
    0000000000001294  sp+320    u         c-48         
    000000000000129a  sp+160    c-72      U            

    func idx [1]: pc = 0x12bc, size = 32 bytes
    STARTPC         CFA       FP        RA           
    00000000000012bc  sp+160    u         r16          
    00000000000012c0  sp+160    r17       r16          
    00000000000012c4  sp+8352   r18       U            

    func idx [2]: pc = 0x12dc, size = 16 bytes
    STARTPC         CFA       FP        RA           
    00000000000012dc  RA undefined
