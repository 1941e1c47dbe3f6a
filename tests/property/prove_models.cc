// prove_models [--device NAME] [--mesh RxC]... MODEL.onnx...: proves whole networks, the
// interpreter run once for all meshes.
//
//   prove_models --mesh 1x1 --mesh 4x4 resnet50.onnx
//   resnet50 4x4 paper: 1939857 cycles, each tensor bit-exact, 4.1 s
#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>

#include "heddle/canon/canonicalize.h"
#include "heddle/onnx/import.h"
#include "prove.h"
#include "random_graph.h"

int main(int argc, char** argv) try {
  using namespace heddle;
  std::vector<std::string> meshes, models;
  std::string name = "paper";
  CLI::App app("Proves whole networks on many meshes");
  app.add_option("--device", name, "paper or switched");
  app.add_option("--mesh", meshes, "RxC, as often as wanted")->required()->allow_extra_args(false);
  app.add_option("models", models, "ONNX files")->required();
  CLI11_PARSE(app, argc, argv);
  int failures = 0;
  for (const std::string& path : models) {
    const std::string stem = std::filesystem::path(path).stem();
    const Result<Graph> imported = importOnnx(path);
    const Result<Canonicalized> canonical =
        imported ? canonicalize(*imported) : Result<Canonicalized>(imported.diagnostics());
    if (!canonical) {
      std::cout << stem << ": " << canonical.diagnostics();
      ++failures;
      continue;
    }
    const CanonicalGraph& graph = canonical->graph;
    const std::vector<TensorValue> inputs = property::randomInputs(graph, 1);
    const std::vector<TensorValue> expected = interpret(graph, inputs);
    for (const std::string& mesh : meshes) {
      const std::size_t x = mesh.find('x');
      const Result<Device> device =
          readDevice(HEDDLE_SOURCE_DIR "/hw_configs/" + name + ".yaml",
                     {.mesh = {{std::stoll(mesh.substr(0, x)), std::stoll(mesh.substr(x + 1))}}});
      if (!device) {
        std::cout << device.diagnostics();
        return 1;
      }
      const auto start = std::chrono::steady_clock::now();
      Cycles cycles;
      const std::optional<std::string> fault =
          property::disprove(graph, *device, inputs, expected, &cycles);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      std::cout << stem << ' ' << mesh << ' ' << name << ": ";
      if (fault)
        std::cout << *fault << '\n';
      else
        std::cout << cycles.raw() << " cycles, each tensor bit-exact, " << took.count() << " s\n";
      std::cout << std::flush;
      failures += fault.has_value();
    }
  }
  return failures == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 70;
}
