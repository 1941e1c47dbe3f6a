#include "../../../src/sweep/batches.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

// Rows of a mesh, memory, DDR rate and network of each task.
struct Asked {
  double rows, memory, rate;
  std::size_t network;
};

std::vector<Task> tasksOf(const std::vector<Asked>& all) {
  std::vector<Task> tasks;
  for (const Asked& one : all) {
    Task& task = tasks.emplace_back();
    task.network = one.network;
    task.point.values = {{"rows", one.rows}, {"cols", 1.0}};
    task.point.numbers = {
        {"rows", one.rows}, {"memtile.memory", one.memory}, {"links.ddr.read", one.rate}};
  }
  return tasks;
}

using Numbers = std::vector<std::vector<std::size_t>>;

Numbers numbersOf(const std::vector<Batch>& batches) {
  Numbers numbers;
  for (const Batch& batch : batches) numbers.push_back(batch.tasks);
  return numbers;
}

const std::vector<Task> kTasks = tasksOf({{1, 256, 2, 0},
                                          {1, 256, 2, 1},
                                          {1, 512, 2, 0},
                                          {1, 512, 2, 1},
                                          {1, 256, 4, 0},
                                          {1, 256, 4, 1},
                                          {1, 512, 4, 0},
                                          {1, 512, 4, 1},
                                          {2, 256, 2, 0}});

TEST(Batches, DevicesThatDifferOnlyInRatesFollowOneAnotherForEachNetwork) {
  const auto batches = batchesOf(kTasks, {0, 1, 2, 3, 4, 5, 6, 7, 8}, 100);
  EXPECT_EQ(numbersOf(batches), (Numbers{{0, 4}, {1, 5}, {2, 6}, {3, 7}, {8}}));
  EXPECT_TRUE(batches.front().shared);
  EXPECT_FALSE(batches.back().shared);
}

TEST(Batches, OnlyWhatIsToDo) {
  EXPECT_EQ(numbersOf(batchesOf(kTasks, {1, 4, 5, 8}, 100)), (Numbers{{1, 5}, {4}, {8}}));
}

TEST(Batches, OnesThatAreTooLongAreCutAndShareAllTheSame) {
  const auto batches = batchesOf(kTasks, {0, 2, 4, 6}, 1);
  EXPECT_EQ(numbersOf(batches), (Numbers{{0}, {4}, {2}, {6}}));
  for (const Batch& batch : batches) EXPECT_TRUE(batch.shared);
}

TEST(Batches, OneByOneDeviceByDevice) {
  const auto batches = oneByOne(batchesOf(kTasks, {0, 1, 4, 5, 8}, 100));
  EXPECT_EQ(numbersOf(batches), (Numbers{{0}, {1}, {4}, {5}, {8}}));
  EXPECT_TRUE(batches.front().shared);
  EXPECT_FALSE(batches.back().shared);
}

TEST(Batches, WhatIsNoDeviceIsATaskToo) {
  std::vector<Task> tasks(2);
  tasks[1].network = 1;
  EXPECT_EQ(numbersOf(batchesOf(tasks, {0, 1}, 100)), (Numbers{{0}, {1}}));
}

}  // namespace
}  // namespace heddle
