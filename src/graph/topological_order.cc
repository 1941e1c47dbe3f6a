#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>

#include "heddle/graph/graph.h"

namespace heddle {

std::optional<std::vector<NodeId>> topologicalOrder(const Graph& graph) {
  using Edges = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  Edges edges(graph.nodes.size());
  std::vector<std::int64_t> producer(graph.values.size(), -1);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const ValueId id : graph.nodes[i].outputs)
      if (id.valid()) producer[id.at()] = static_cast<std::int64_t>(i);
  // From consumer to producer: boost's order, which is reversed, then has producers first. A
  // depth-first search started at the nodes in file order keeps that order wherever the edges allow
  // it.
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const ValueId id : graph.nodes[i].inputs)
      if (id.valid() && producer[id.at()] >= 0)
        boost::add_edge(i, static_cast<std::size_t>(producer[id.at()]), edges);
  std::vector<std::size_t> order;
  try {
    boost::topological_sort(edges, std::back_inserter(order));
  } catch (const boost::not_a_dag&) {
    return std::nullopt;
  }
  std::vector<NodeId> ids;
  for (const std::size_t i : order) ids.push_back(NodeId(i));
  return ids;
}

}  // namespace heddle
