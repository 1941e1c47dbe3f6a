#include <heddle/device/device.h>

#include <iostream>

int main(int, char** argv) {
  const heddle::Result<heddle::Device> device = heddle::readDevice(argv[1]);
  if (!device) return std::cerr << device.diagnostics(), 1;
  std::cout << device->rows * device->columns << " cores\n";
}
