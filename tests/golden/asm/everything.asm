heddle.asm/2
model "everything" sha256 "00ff"
device sha256 "22dd"
weights @0x1000 size 2304 sha256 "11ee"
record 0 for 2 @0x0 size 576 kept 4
record 2 @0x480 size 576 kept 3
record 3 @0x6c0 size 576 padding 64
ddr size 8192 frames 2 batch 4
input "x" %0 uint8 shape [1, 16, 16, 16] view [1, 16, 16, 16] axes "NCHW"
output "y" %1 float32 shape [1, 32] view [1, 32] axes "NC"
output "z" %1 int8 shape [] view [] axes ""
host "Softmax"

tensor %0 "x" 16x16x16 scale 0.0625 zero 3 uint8 ddr @0x0 per-frame 4096 constant
  slice mem(0) @0x40 [y 0 for 16, x 0 for 8]
  slice mem(1) @0x40 [y 0 for 16, x 8 for 8]
tensor %1 "café\x01\xff\\" 16x16x32 scale 0.1 root %0 block 2

layer 0 "conv1" op "Conv" output %1 split "W/2 x COUT/2"

kernel k0 CONV "layer \"1\"\x0a" window 3x5 stride 2x1 dilation 1x2 pad [1, 2, 3, 4] input 56x28 blocks 2 output 14 blocks 4 zeros [-3, 0, 5] clamp [-5, 90] whole 7 count-pad rescale 1073741824 >> 31 multipliers [12, -12] shift 20 negative-scale weight-zeros record-at 144 shares-record broadcast per-channel lines fill -7 multiplies [3, -4, -80, 60] looks-up [11, -90, 70] adds-to [-9, -100, 20]
  move columns [to 0 step 2 from 1 step 3 for 8] channels [to 8 from 0 for 8, to 0 from 8 for 8] table 0
kernel k1 DWCONV "layer \"1\"\x0a" input 1x1 output 1
kernel k2 MAXPOOL "layer \"1\"\x0a" input 1x1 output 1
kernel k3 AVGPOOL "layer \"1\"\x0a" input 1x1 output 1
kernel k4 ADD "layer \"1\"\x0a" input 1x1 output 1
kernel k5 MUL "layer \"1\"\x0a" input 1x1 output 1
kernel k6 TABLE "layer \"1\"\x0a" input 1x1 output 1
kernel k7 CONCAT "layer \"1\"\x0a" input 1x1 output 1

buffer "ring" in core rows 0-1 columns 0-1 @0x40 size 576 layers 0 to none tensor %0
buffer "slice" in mem row 0 column 1 @0x0 size 64 layers none to 0
buffer "weights" in ddr row 0 column 0 @0x1000 size 2304 layers 0 to 0

lock L3 in core(1,2) = 4 from core-in(1,2).1 to core(1,2)
lock L0 in mem(1) = 0 from ddr-in(1).0 to wire(2)
lock L1 in mem(1) = 0 from core-out(1,1).0 to ddr-out(1).1

# ---- layer 0 "conv1", "Conv", "W/2 x COUT/2" ----
on sequencer, layer 0:
  START ddr-in(1).1
  WAIT wire(2) entry 3
on ddr-in columns 0-1 channel 1, layer 0:
  LOAD %0[y -1 + i0, block 2*row for 2, x 8*column for 8] ddr @0x0 + 64*column + ((1 + i0) mod 4)*576 [4 by 1024, 2 by 512, 72 B] acquire L0, 2*L(3 + row) release L1 -> mem @0x40 + 64*column + ((1 + i0) mod 4)*576 [4 by 1024, 2 by 512, 72 B] acquire L0, 2*L(3 + row) release L1
  LOADW record[column] -> mem @0x40 + 64*column + ((1 + i0) mod 4)*576 acquire L0 release L1
on ddr-out column 1 channel 0, layer 0:
  WRITE %1[y -1 + i0, block 2*row for 2, x 8*column for 8] mem @0x0 + 64*column + ((1 + i0) mod 4)*576 [4 by 1024, 2 by 512, 72 B] acquire L0, 2*L(3 + row) release L1 -> ddr @0x40 + 64*column + ((1 + i0) mod 4)*576 [4 by 1024, 2 by 512, 72 B] acquire L0, 2*L(3 + row) release L1
on wire column 2, layer 0:
  LOADFM %0[y -1 + i0, block 2*row for 2, x 8*column for 8] mem(1) @0x0 + 64*column + ((1 + i0) mod 4)*576 [4 by 1024, 2 by 512, 72 B] acquire L0, 2*L(3 + row) release L1 -> core(0 for 4, 2 for 2).1, core(5, 6).0
  LOADWM record[3] mem(column) @0x0 + 64*column + ((1 + i0) mod 4)*576 acquire L0 release L1 -> core(0 for 4, 2 for 2).1
on core-in rows 0-3 columns 0-1 channel 1, layer 0:
  RECV %0[y -1 + i0, block 2*row for 2, x 8*column for 8] wire(2) -> @0x0 + 64*column + ((1 + i0) mod 4)*576 [4 by 1024, 2 by 512, 72 B] acquire L0, 2*L(3 + row) release L1
on core row 1 columns 0-3, layer 0:
  loop 14 {  # i0
    CONV k0 %1[y -1 + i0, block 2*row for 2, x 8*column for 8] in %0[row -1 + i0, column -1 + 8*column] ring @0x40 [4 by 144 B] offset i0 holds [block 1 for 2, x 7 for 9] absent weights @0x240 record[1 + 2*i0 + row] sum @0x900 init keep out @0x300 + (i0 mod 2)*128 acquire L0 release 2*L1
    loop 2 {  # i1
      CONV k0 %1[y -1 + i0, block 2*row for 2, x 8*column for 8] in %0[row -1 + i0, column -1 + 8*column] ring @0x40 [4 by 144 B] offset i0 holds [block 1 for 2, x 7 for 9] absent weights @0x240 record[1 + 2*i0 + row] sum @0x900 add keep out @0x300 + (i0 mod 2)*128 acquire L0 release 2*L1
    }
    CONV k0 %1[y -1 + i0, block 2*row for 2, x 8*column for 8] in %0[row -1 + i0, column -1 + 8*column] ring @0x40 [4 by 144 B] offset i0 holds [block 1 for 2, x 7 for 9] absent weights @0x240 record[1 + 2*i0 + row] sum @0x900 add finish out @0x300 + (i0 mod 2)*128 acquire L0 release 2*L1
  }
  CALL k99 %1[y -1 + i0, block 2*row for 2, x 8*column for 8] in %0[row -1 + i0, column -1 + 8*column] ring @0x40 [4 by 144 B] offset i0 holds [block 1 for 2, x 7 for 9] absent weights @0x240 record[1 + 2*i0 + row] sum @0x900 add keep out @0x300 + (i0 mod 2)*128 acquire L0 release 2*L1
on core-out rows 1-2 columns 0-3 and row 4 column 1 channel 0, layer 0:
  WRITEFM %1[y -1 + i0, block 2*row for 2, x 8*column for 8] @0x0 + 64*column + ((1 + i0) mod 4)*576 [4 by 1024, 2 by 512, 72 B] acquire L0, 2*L(3 + row) release L1 -> mem(0) @0x1 + 64*column + ((1 + i0) mod 4)*576 [4 by 1024, 2 by 512, 72 B] acquire L0, 2*L(3 + row) release L1 and mem(1) @0x2 + 64*column + ((1 + i0) mod 4)*576 [4 by 1024, 2 by 512, 72 B] acquire L0, 2*L(3 + row) release L1
on sequencer, layer 0, last frame:
  WAIT ddr-out(1).0 entry 0
