
v3-gas247-second.o:     file format elf64-s390

Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: SFRAME_F_FDE_FUNC_START_PCREL
    Num FDEs: 2
    Num FREs: 5

  Function Index :

    func idx [0]: pc = 0x0, size = 24 bytes
    STARTPC         CFA       FP        RA           
    0000000000000000  sp+160    u         u            
    0000000000000006  sp+160    u         c-48         
    000000000000000a  sp+328    u         c-48         
    0000000000000016  sp+160    u         u            

    func idx [1]: pc = 0x18, size = 2 bytes
    STARTPC         CFA       FP        RA           
    0000000000000018  sp+160    u         u            
