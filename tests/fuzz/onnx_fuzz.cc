// Any bytes as a model: importOnnx and canonicalize answer with a value or with diagnostics, and
// what they make keeps its promises (canonicalize checks that itself and would throw).
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "heddle/canon/canonicalize.h"
#include "heddle/onnx/import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const Result<Graph> graph =
      importOnnx(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!graph) return 0;
  const Result<Canonicalized> canonical = canonicalize(*graph);
  HEDDLE_CHECK(canonical || !canonical.diagnostics().empty());
  return 0;
}
