
v3-gas247-flex.so:     file format elf64-s390

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_SORTED,
           SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 6
    Num FREs: 20

  Function Index :

    func idx [0]: pc = 0x2e0, size = 14 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    00000000000002e0  sp+160    u         u            
    00000000000002e4  sp+160    u         r16+0        
    00000000000002ec  sp+160    u         u            

    func idx [1]: pc = 0x2ee, size = 22 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    00000000000002ee  sp+160    u         u            
    00000000000002f2  sp+160    r17+0     U            
    00000000000002f6  sp+160    r17+0     r16+0        
    00000000000002fe  sp+160    u         r16+0        
    0000000000000302  sp+160    u         u            

    func idx [2]: pc = 0x304, size = 14 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    0000000000000304  sp+160    u         u            
    0000000000000308  sp+160    r18+0     U            
    0000000000000310  sp+160    u         u            

    func idx [3]: pc = 0x312, size = 14 bytes, attr = "F"
    STARTPC         CFA       FP        RA           
    0000000000000312  sp+160    u         u            
    0000000000000316  r1+160    u         u            
    000000000000031e  sp+160    u         u            

    func idx [4]: pc = 0x320, size = 10 bytes
    STARTPC         CFA       FP        RA           
    0000000000000320  sp+160    u         u            
    0000000000000324  sp+160    u         u            
    0000000000000328  sp+160    u         u            

    func idx [5]: pc = 0x32a, size = 10 bytes
    STARTPC         CFA       FP        RA           
    000000000000032a  sp+160    u         u            
    000000000000032e  RA undefined
    0000000000000332  sp+160    u         u            
