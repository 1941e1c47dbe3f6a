#include "heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>

namespace heddle {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr int kHeap = 1 << 30;           // bytes that are asked for at once; taken as they are used
constexpr int kGrowth = 64 << 20;        // at a time, beyond these
constexpr int kLargestPiece = 32 << 20;  // of the heap; larger pieces are mapped by themselves

bool isLimited() {
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return true;
  }
  return false;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

void growInHugePages() {
  if (isLimited()) return;
  ::mallopt(M_MMAP_THRESHOLD, kLargestPiece);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_TOP_PAD, kHeap);
  const std::unique_ptr<void, Free> first(std::malloc(kHugePage / 2));
  ::mallopt(M_TOP_PAD, kGrowth);
  void* begin = first.get();
  const char* const end = static_cast<const char*>(::sbrk(0));
  // Another allocator's pieces lie elsewhere; and where the system refuses, pages stay small.
  if (!begin || end <= begin || end - static_cast<const char*>(begin) > 2 * std::int64_t{kHeap})
    return;
  auto room = static_cast<std::size_t>(end - static_cast<const char*>(begin));
  if (std::align(kHugePage, kHugePage, begin, room))
    ::madvise(begin, room / kHugePage * kHugePage, MADV_HUGEPAGE);
}

}  // namespace heddle
