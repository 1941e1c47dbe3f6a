heddle.asm/2
model "worked_conv" sha256 ""
device sha256 ""
weights @0x3000 size 4912 sha256 ""
record 0 for 2 @0x0 size 2456 kept 4
ddr size 17200
input "input" %0 int8 shape [1, 16, 16, 16] view [1, 16, 16, 16] axes "NHWC"
output "output" %1 int8 shape [1, 32, 16, 16] view [1, 32, 16, 16] axes "NCHW"

tensor %0 "input" 16x16x16 scale 1 ddr @0x0
  slice mem(0) @0x200 [y 0 for 16, x 0 for 8]
  slice mem(1) @0x200 [y 0 for 16, x 8 for 8]
tensor %1 "output" 16x16x32 scale 1 ddr @0x1000

layer 0 "conv" op "Conv" output %1 split "W/2 x C/2, 1 pass, input resident"

kernel k0 CONV "conv" window 3x3 pad [1, 1, 1, 1] input 16x16 blocks 2 output 8 blocks 2 whole 3

buffer "tensor input" in mem row 0 column 0 @0x200 size 2048 layers 0 to 0 tensor %0
buffer "tensor input" in mem row 0 column 1 @0x200 size 2048 layers 0 to 0 tensor %0
buffer "conv weights" in core rows 0-1 columns 0-1 @0x0 size 4912 layers 0 to 0
buffer "conv input 0" in core rows 0-1 columns 0-1 @0x13b0 size 2560 layers 0 to 0
buffer "conv output" in core rows 0-1 columns 0-1 @0x1db0 size 256 layers 0 to 0
buffer "conv output stream" in mem row 0 columns 0-1 @0x0 size 512 layers 0 to 0

lock L1 in mem(0) = 0 from ddr-in(0).0 to wire(0)
lock L2 in mem(0) = 0 from ddr-in(0).0 to wire(1)
lock L3 in mem(0) = 0 from ddr-in(0).1 to wire(2)
lock L5 in mem(0) = 0 from ddr-out(0).0 to core-out(0,0).0
lock L6 in mem(0) = 0 from ddr-out(0).1 to core-out(1,0).0
lock L7 in mem(0) = 0 from core-out(0,0).0 to ddr-out(0).0
lock L8 in mem(0) = 0 from core-out(1,0).0 to ddr-out(0).1
lock L0 in mem(1) = 0 from ddr-in(1).0 to wire(0)
lock L1 in mem(1) = 0 from ddr-in(1).0 to wire(1)
lock L4 in mem(1) = 0 from ddr-in(1).1 to wire(3)
lock L5 in mem(1) = 0 from ddr-out(1).0 to core-out(0,1).0
lock L6 in mem(1) = 0 from ddr-out(1).1 to core-out(1,1).0
lock L7 in mem(1) = 0 from core-out(0,1).0 to ddr-out(1).0
lock L8 in mem(1) = 0 from core-out(1,1).0 to ddr-out(1).1
lock L0 in core(0,0) = 0 from core-in(0,0).0 to core(0,0)
lock L1 in core(0,0) = 0 from core-in(0,0).1 to core(0,0)
lock L2 in core(0,0) = 0 from core(0,0) to core-out(0,0).0
lock L3 in core(0,0) = 0 from core-out(0,0).0 to core(0,0)
lock L0 in core(0,1) = 0 from core-in(0,1).0 to core(0,1)
lock L1 in core(0,1) = 0 from core-in(0,1).1 to core(0,1)
lock L2 in core(0,1) = 0 from core(0,1) to core-out(0,1).0
lock L3 in core(0,1) = 0 from core-out(0,1).0 to core(0,1)
lock L0 in core(1,0) = 0 from core-in(1,0).0 to core(1,0)
lock L1 in core(1,0) = 0 from core-in(1,0).1 to core(1,0)
lock L2 in core(1,0) = 0 from core(1,0) to core-out(1,0).0
lock L3 in core(1,0) = 0 from core-out(1,0).0 to core(1,0)
lock L0 in core(1,1) = 0 from core-in(1,1).0 to core(1,1)
lock L1 in core(1,1) = 0 from core-in(1,1).1 to core(1,1)
lock L2 in core(1,1) = 0 from core(1,1) to core-out(1,1).0
lock L3 in core(1,1) = 0 from core-out(1,1).0 to core(1,1)

# ---- layer 0 "conv", "Conv", "W/2 x C/2, 1 pass, input resident" ----
on ddr-in columns 0-1 channel 0, layer 0:
  loop 16 {  # i0
    LOAD %0[y i0, block 0 for 2, x 8*column for 8] ddr @0x0 + 256*i0 + 64*column [2 by 128, 64 B] -> mem @0x200 + 128*i0 [128 B] release L(1 - column), L(2 - column)
  }
on ddr-in columns 0-1 channel 1, layer 0:
  LOADW record[column] -> mem @0xa00 + (0 mod 8)*2456 release L(3 + column)
on ddr-out columns 0-1 channel 0, layer 0:
  loop 14 {  # i0
    WRITE %1[y i0, block 0 for 2, x 8*column for 8] mem @0x0 + (i0 mod 2)*128 [128 B] acquire L7 release L5 -> ddr @0x1000 + 512*i0 + 64*column [2 by 128, 64 B]
  }
  loop 2 {  # i0
    WRITE %1[y 14 + i0, block 0 for 2, x 8*column for 8] mem @0x0 + ((14 + i0) mod 2)*128 [128 B] acquire L7 -> ddr @0x2c00 + 512*i0 + 64*column [2 by 128, 64 B]
  }
on ddr-out columns 0-1 channel 1, layer 0:
  loop 14 {  # i0
    WRITE %1[y i0, block 2 for 2, x 8*column for 8] mem @0x100 + (i0 mod 2)*128 [128 B] acquire L8 release L6 -> ddr @0x1100 + 512*i0 + 64*column [2 by 128, 64 B]
  }
  loop 2 {  # i0
    WRITE %1[y 14 + i0, block 2 for 2, x 8*column for 8] mem @0x100 + ((14 + i0) mod 2)*128 [128 B] acquire L8 -> ddr @0x2d00 + 512*i0 + 64*column [2 by 128, 64 B]
  }
on wire column 0, layer 0:
  loop 16 {  # i0
    LOADFM %0[y i0, block 0 for 2, x 0 for 8] mem(0) @0x200 + 128*i0 [128 B] acquire L1 -> core(0 for 2, 0).0
    LOADFM %0[y i0, block 0 for 2, x 8] mem(1) @0x200 + 128*i0 [2 by 64, 8 B] acquire L0 -> core(0 for 2, 0).0
  }
on wire column 1, layer 0:
  loop 16 {  # i0
    LOADFM %0[y i0, block 0 for 2, x 7] mem(0) @0x238 + 128*i0 [2 by 64, 8 B] acquire L2 -> core(0 for 2, 1).0
    LOADFM %0[y i0, block 0 for 2, x 8 for 8] mem(1) @0x200 + 128*i0 [128 B] acquire L1 -> core(0 for 2, 1).0
  }
on wire columns 2-3, layer 0:
  LOADWM record[-2 + column] mem(-2 + column) @0xa00 + (0 mod 8)*2456 acquire L(1 + column) -> core(-2 + column, 0 for 2).1
on core-in rows 0-1 column 0 channel 0, layer 0:
  RECV %0[y 0, block 0 for 2, x 0 for 8] wire(0) -> @0x13b0 + (0 mod 16)*160 [2 by 72, 64 B]
  RECV %0[y 0, block 0 for 2, x 8] wire(0) -> @0x13f0 + (0 mod 16)*160 [2 by 72, 8 B]
  loop 15 {  # i0
    RECV %0[y 1 + i0, block 0 for 2, x 0 for 8] wire(0) -> @0x13b0 + ((1 + i0) mod 16)*160 [2 by 72, 64 B]
    RECV %0[y 1 + i0, block 0 for 2, x 8] wire(0) -> @0x13f0 + ((1 + i0) mod 16)*160 [2 by 72, 8 B] release L0
  }
on core-in rows 0-1 column 1 channel 0, layer 0:
  RECV %0[y 0, block 0 for 2, x 7] wire(1) -> @0x13b0 + (0 mod 16)*160 [2 by 72, 8 B]
  RECV %0[y 0, block 0 for 2, x 8 for 8] wire(1) -> @0x13b8 + (0 mod 16)*160 [2 by 72, 64 B]
  loop 15 {  # i0
    RECV %0[y 1 + i0, block 0 for 2, x 7] wire(1) -> @0x13b0 + ((1 + i0) mod 16)*160 [2 by 72, 8 B]
    RECV %0[y 1 + i0, block 0 for 2, x 8 for 8] wire(1) -> @0x13b8 + ((1 + i0) mod 16)*160 [2 by 72, 64 B] release L0
  }
on core-in rows 0-1 columns 0-1 channel 1, layer 0:
  RECV record[row] wire(2 + row) -> @0x0 + (0 mod 2)*2456 release L1
on core rows 0-1 columns 0-1, layer 0:
  CONV k0 %1[y 0, block 2*row for 2, x 8*column for 8] in %0[row -1, column -1 + 8*column] ring @0x13b0 [16 by 160 B] holds [block 0 for 2, x 7*column for 9] weights @0x0 + (0 mod 2)*2456 record[row] out @0x1db0 + (0 mod 2)*128 acquire L0, L1 release L2
  CONV k0 %1[y 1, block 2*row for 2, x 8*column for 8] in %0[row 0, column -1 + 8*column] ring @0x13b0 [16 by 160 B] holds [block 0 for 2, x 7*column for 9] weights @0x0 + (0 mod 2)*2456 record[row] out @0x1db0 + (1 mod 2)*128 acquire L0 release L2
  loop 13 {  # i0
    CONV k0 %1[y 2 + i0, block 2*row for 2, x 8*column for 8] in %0[row 1 + i0, column -1 + 8*column] ring @0x13b0 [16 by 160 B] holds [block 0 for 2, x 7*column for 9] weights @0x0 + (0 mod 2)*2456 record[row] out @0x1db0 + ((2 + i0) mod 2)*128 acquire L0, L3 release L2
  }
  CONV k0 %1[y 15, block 2*row for 2, x 8*column for 8] in %0[row 14, column -1 + 8*column] ring @0x13b0 [16 by 160 B] holds [block 0 for 2, x 7*column for 9] weights @0x0 + (0 mod 2)*2456 record[row] out @0x1db0 + (15 mod 2)*128 acquire L3 release L2
on core-out rows 0-1 columns 0-1 channel 0, layer 0:
  loop 2 {  # i0
    WRITEFM %1[y i0, block 2*row for 2, x 8*column for 8] @0x1db0 + (i0 mod 2)*128 [128 B] acquire L2 release L3 -> mem(column) @0x0 + 256*row + (i0 mod 2)*128 [128 B] release L(7 + row)
  }
  loop 12 {  # i0
    WRITEFM %1[y 2 + i0, block 2*row for 2, x 8*column for 8] @0x1db0 + ((2 + i0) mod 2)*128 [128 B] acquire L2 release L3 -> mem(column) @0x0 + 256*row + ((2 + i0) mod 2)*128 [128 B] acquire L(5 + row) release L(7 + row)
  }
  loop 2 {  # i0
    WRITEFM %1[y 14 + i0, block 2*row for 2, x 8*column for 8] @0x1db0 + ((14 + i0) mod 2)*128 [128 B] acquire L2 -> mem(column) @0x0 + 256*row + ((14 + i0) mod 2)*128 [128 B] acquire L(5 + row) release L(7 + row)
  }
on sequencer, layer 0:
  START ddr-in(0).1
  START ddr-in(1).1
  START ddr-in(0).0
  START ddr-in(1).0
  START ddr-out(0).0
  START ddr-out(0).0
  START ddr-out(1).0
  START ddr-out(1).0
  START ddr-out(0).1
  START ddr-out(0).1
  START ddr-out(1).1
  START ddr-out(1).1
  WAIT ddr-out(0).0 entry 1
  WAIT ddr-out(0).1 entry 1
  WAIT ddr-out(1).0 entry 1
  WAIT ddr-out(1).1 entry 1
