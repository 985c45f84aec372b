
v2-hand.o:     file format elf64-s390

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 3
    Num FREs: 10

  Function Index :

    func idx [0]: pc = 0x0, size = 64 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+160    u         u            
    0000000000000006  sp+160    c-72      c-48         
    000000000000000a  sp+320    c-72      c-48         
    000000000000000e  fp+320    c-72      c-48         
    0000000000000018  sp+320    u         c-48         
    000000000000001e  sp+160    c-72      U            

    func idx [1]: pc = 0x40, size = 32 bytes
    STARTPC         CFA       FP        RA           
    0000000000000040  sp+160    u         r16          
    0000000000000044  sp+160    r17       r16          
    0000000000000048  sp+8352   r18       U            

    func idx [2]: pc = 0x60, size = 16 bytes
    STARTPC         CFA       FP        RA           
    0000000000000060  RA undefined
