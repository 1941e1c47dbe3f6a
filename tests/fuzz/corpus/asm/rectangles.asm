heddle.asm/2
model "m" sha256 ""
device sha256 ""
weights @0x0 size 64 sha256 ""
ddr size 192
tensor %0 "x" 1x1x8 scale 1 ddr @0x40
layer 0 "l" op "Add" output %0 split ""
kernel k0 ADD "l" input 1x1 output 1
lock L0 in mem(0) = 0 from ddr-in(0).0 to ddr-out(0).0
lock L1 in mem(0) = 0 from ddr-out(0).0 to ddr-in(0).0
on ddr-in column 0 and column 1 channel 0, layer 0:
  LOAD %0[y 0, block 0, x 0] ddr @0x40 [8 B] -> mem @0x0 [8 B] release L0
  loop 3 {
    LOAD %0[y 0, block 0, x 0] ddr @0x40 [8 B] -> mem @0x0 [8 B] acquire L1 release L0
  }
on ddr-out column 0 channel 0, layer 0:
  loop 3 {
    WRITE %0[y 0, block 0, x 0] mem @0x0 [8 B] acquire L0 release L1 -> ddr @0x40 [2 by 4, 4 B]
  }
  WRITE %0[y 0, block 0, x 0] mem @0x0 [8 B] acquire L0 -> ddr @0x40 [8 B]
on sequencer, layer 0:
  START ddr-in(0).0
  START ddr-in(0).0
  START ddr-out(0).0
  START ddr-out(0).0
  WAIT ddr-out(0).0 entry 1
