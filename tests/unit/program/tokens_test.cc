#include "tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "frame_tokens.h"
#include "known.h"

namespace heddle {
namespace {

// Queues by number; each instruction is of one queue and touches one tile.
class TokensTest : public ::testing::Test {
 protected:
  void at(std::int32_t queue, std::int32_t op, std::int32_t step = 0) {
    by = {queue, op, 0, step};
    const Operation one{queue, op};
    if (next)
      next->begin({&one, 1}, step);
    else
      tokens.begin({&one, 1}, step);
  }
  void require(const std::vector<Edge>& edges) {
    for (const Edge& edge : edges) next ? next->require(0, edge) : tokens.require(0, edge);
  }
  void end() { next ? next->end() : tokens.end(); }
  // All that is told from here on is the next frame; its steps and instructions count on.
  void nextFrame(std::vector<std::int32_t> lengths) {
    tokens.finish(tile);
    next.emplace(tokens, std::move(lengths));
  }
  void read(std::int64_t first, std::int64_t end) {
    std::vector<Edge> edges;
    tile[0].read(first, end, by, edges);
    require(edges);
  }
  void write(std::int64_t first, std::int64_t end) {
    std::vector<Edge> edges;
    tile[0].write(first, end, by, edges);
    require(edges);
  }
  // "1: take data 0->1, give 2 space 1->0 | ..." of a queue's instructions.
  std::string usesOf(std::int32_t queue) {
    std::vector<TokenUse>& uses = tokens.usesOf(queue);
    std::sort(uses.begin(), uses.end(), [](const TokenUse& a, const TokenUse& b) {
      return std::tie(a.op, a.release, a.lock) < std::tie(b.op, b.release, b.lock);
    });
    std::string out;
    for (const TokenUse& u : uses) {
      const DerivedLock& lock = tokens.locks()[static_cast<std::size_t>(u.lock)];
      out += std::to_string(u.op) + (u.release ? " gives " : " takes ") + std::to_string(u.count) +
             (lock.purpose == LockPurpose::Data    ? " data"
              : lock.purpose == LockPurpose::Space ? " space"
                                                   : " frame") +
             "; ";
    }
    return out;
  }
  std::int64_t initialSpace() const { return initialOf(LockPurpose::Space); }
  std::int64_t initialOf(LockPurpose purpose) const {
    for (const DerivedLock& lock : tokens.locks())
      if (lock.purpose == purpose) return lock.initial;
    return -1;
  }
  // A ring of `places` rows that queue 0 fills and queue 1 reads, `rows` of them in a step.
  void ring(std::int64_t places, std::int32_t rows, std::int32_t step, std::int32_t from) {
    for (std::int32_t row = 0; row < rows; ++row) {
      const std::int64_t place = (from + row) % places * 8;
      at(0, from + row, step);
      write(place, place + 8);
      end();
      at(1, from + row, step);
      read(place, place + 8);
      end();
    }
  }

  // Queue 0 writes rows [first, first + rows) of a ring at once, as its instruction `op`.
  void writeRows(std::int64_t places, std::int32_t op, std::int32_t first, std::int32_t rows) {
    at(0, op);
    for (by.row = 0; by.row < rows; ++by.row) {
      const std::int64_t place = (first + by.row) % places * 8;
      write(place, place + 8);
    }
    end();
  }
  // Queue 1 reads them one by one; its instructions are numbered as the rows.
  void readRows(std::int64_t places, std::int32_t first, std::int32_t rows) {
    for (std::int32_t row = first; row < first + rows; ++row) {
      at(1, row);
      read(row % places * 8, row % places * 8 + 8);
      end();
    }
  }
  // Pieces of so many rows, each read before the next is written.
  void ringOfPieces(std::int64_t places, const std::vector<std::int32_t>& pieces) {
    std::int32_t row = 0;
    for (std::size_t piece = 0; piece < pieces.size(); row += pieces[piece++]) {
      writeRows(places, static_cast<std::int32_t>(piece), row, pieces[piece]);
      readRows(places, row, pieces[piece]);
    }
  }

  Tokens tokens;
  std::optional<FrameTokens> next;
  std::array<TileAccesses, 1> tile;
  AccessPoint by;
};

// Three rows that one read takes together.
TEST_F(TokensTest, WhatALockCannotCountIsGivenByTheLastThatIsWaitedFor) {
  const auto told = [&](std::int64_t most) {
    tokens = Tokens(most);
    tile[0] = TileAccesses();
    for (std::int32_t row = 0; row < 3; ++row) {
      at(0, row);
      write(row * 8, row * 8 + 8);
      end();
    }
    at(1, 0);
    read(0, 24);
    end();
    tokens.finish(tile);
    return usesOf(0) + "| " + usesOf(1);
  };
  EXPECT_EQ(told(3), "0 gives 1 data; 1 gives 1 data; 2 gives 1 data; | 0 takes 3 data; ");
  EXPECT_EQ(told(2), "2 gives 1 data; | 0 takes 1 data; ");
}

// Four rows in two places: of the writes two wait for the reader, the others for nothing.
TEST_F(TokensTest, WhatALockCannotCountIsTakenByWhoWaits) {
  tokens = Tokens(3);
  ring(2, 4, 0, 0);
  tokens.finish(tile);
  EXPECT_EQ(usesOf(0),
            "0 gives 1 data; 1 gives 1 data; 2 takes 1 space; 2 gives 1 data; "
            "3 takes 1 space; 3 gives 1 data; ");
  EXPECT_EQ(initialSpace(), 0);
}

TEST_F(TokensTest, AllRowsOfARingAreAlike) {
  ring(2, 5, 0, 0);
  tokens.finish(tile);
  EXPECT_EQ(initialSpace(), 2);
  EXPECT_EQ(usesOf(0),
            "0 takes 1 space; 0 gives 1 data; 1 takes 1 space; 1 gives 1 data; "
            "2 takes 1 space; 2 gives 1 data; 3 takes 1 space; 3 gives 1 data; "
            "4 takes 1 space; 4 gives 1 data; ");
  EXPECT_EQ(usesOf(1),
            "0 takes 1 data; 0 gives 1 space; 1 takes 1 data; 1 gives 1 space; "
            "2 takes 1 data; 2 gives 1 space; 3 takes 1 data; 3 gives 1 space; "
            "4 takes 1 data; 4 gives 1 space; ");
}

TEST_F(TokensTest, ARingThatIsFilledOnceNeedsNoSpace) {
  ring(8, 5, 0, 0);
  tokens.finish(tile);
  EXPECT_EQ(tokens.locks().size(), 1u);
  EXPECT_EQ(tokens.locks()[0].purpose, LockPurpose::Data);
}

// Rows of a window of two: the first call reads two, the last gives two back.
TEST_F(TokensTest, ACallTakesAndGivesSeveralRowsAtOnce) {
  for (std::int32_t row = 0; row < 4; ++row) {
    at(0, row);
    write(row % 3 * 8, row % 3 * 8 + 8);
    tokens.end();
    if (row == 0) continue;
    at(1, row - 1);
    read((row - 1) % 3 * 8, (row - 1) % 3 * 8 + 8);
    read(row % 3 * 8, row % 3 * 8 + 8);
    tokens.end();
  }
  tokens.finish(tile);
  EXPECT_EQ(initialSpace(), 3);
  EXPECT_EQ(usesOf(1),
            "0 takes 2 data; 0 gives 1 space; 1 takes 1 data; 1 gives 1 space; "
            "2 takes 1 data; 2 gives 2 space; ");
}

// A ring of five rows that come two and three at once, in either order: each call takes and gives
// one token, whatever piece its row came in.
TEST_F(TokensTest, RowsThatComeTogetherHaveATokenEach) {
  ringOfPieces(5, {2, 3, 3, 2, 3});
  tokens.finish(tile);
  EXPECT_EQ(initialSpace(), 5);
  EXPECT_EQ(usesOf(0),
            "0 takes 2 space; 0 gives 2 data; 1 takes 3 space; 1 gives 3 data; "
            "2 takes 3 space; 2 gives 3 data; 3 takes 2 space; 3 gives 2 data; "
            "4 takes 3 space; 4 gives 3 data; ");
  std::string alike;
  for (std::int32_t call = 0; call < 13; ++call)
    alike += std::to_string(call) + " takes 1 data; " + std::to_string(call) + " gives 1 space; ";
  EXPECT_EQ(usesOf(1), alike);
}

// The third piece fills the last place and waits for the first: all of its tokens come from the
// call that it waits for, for one that the lock begins with would never be needed.
TEST_F(TokensTest, WhoWaitsWithItsFirstRowsTakesNoneThatTheLockBeginsWith) {
  ringOfPieces(6, {2, 3, 3, 2});
  tokens.finish(tile);
  EXPECT_EQ(initialSpace(), 5);
  EXPECT_EQ(usesOf(1).substr(0, usesOf(1).find("1 takes")), "0 takes 1 data; 0 gives 2 space; ");
}

// Where a lock counts writes but not their rows, each write has one token.
TEST_F(TokensTest, WhatALockCannotCountByRowsIsCountedByWrites) {
  const auto told = [&](std::int64_t most) {
    tokens = Tokens(most);
    tile[0] = TileAccesses();
    writeRows(6, 0, 0, 3);
    writeRows(6, 1, 3, 3);
    readRows(6, 0, 6);
    tokens.finish(tile);
    return usesOf(0) + "| " + usesOf(1);
  };
  EXPECT_EQ(told(6),
            "0 gives 3 data; 1 gives 3 data; | 0 takes 1 data; 1 takes 1 data; 2 takes 1 data; "
            "3 takes 1 data; 4 takes 1 data; 5 takes 1 data; ");
  EXPECT_EQ(told(5), "0 gives 1 data; 1 gives 1 data; | 0 takes 1 data; 3 takes 1 data; ");
}

// Places of a step before are waited for by the first that writes in the tile, if it may: the
// others wait for nothing.
TEST_F(TokensTest, TheFirstOfAStepWaitsForWhatTheOthersWaitForFromStepsBefore) {
  const auto told = [&](bool atFirst) {
    tokens = Tokens();
    tile[0] = TileAccesses();
    for (std::int32_t row = 0; row < 3; ++row) {
      at(1, row, 0);
      read(row * 8, row * 8 + 8);
      end();
    }
    for (std::int32_t row = 0; row < 3; ++row) {
      at(0, row, 1);
      if (atFirst) tokens.waitAtFirst(0, by);
      if (row != 0) write(row * 8, row * 8 + 8);
      end();
    }
    tokens.finish(tile);
    return usesOf(0) + "| " + usesOf(1);
  };
  EXPECT_EQ(told(false), "1 takes 1 space; 2 takes 1 space; | 1 gives 1 space; 2 gives 1 space; ");
  EXPECT_EQ(told(true), "0 takes 1 space; | 2 gives 1 space; ");
}

// The ring of the next step has a place more than the one before, and none of them is new.
TEST_F(TokensTest, ALaterStepFindsItsPlacesGivenBackByTheOneBefore) {
  ring(2, 4, 0, 0);
  ring(3, 6, 1, 4);
  tokens.finish(tile);
  std::int64_t taken = 0, given = 0;
  for (const TokenUse& u : tokens.usesOf(0))
    if (!u.release) taken += u.count;
  for (const TokenUse& u : tokens.usesOf(1))
    if (u.release) given += u.count;
  EXPECT_EQ(taken, 10);
  EXPECT_EQ(given, 10);
  EXPECT_EQ(initialSpace(), 2);
}

// Who waits at its first access of a tile does so tile by tile.
TEST_F(TokensTest, TheFirstOfEachTileWaitsForThatTile) {
  for (std::int32_t op = 0; op < 2; ++op) {
    at(1, op, 0);
    end();
  }
  for (std::int32_t op = 0; op < 4; ++op) {
    at(0, op, 1);
    tokens.waitAtFirst(op % 2, by);
    if (op >= 2) tokens.require(op % 2, {.from = {1, op - 2, 0, 0}, .to = by, .opened = {}});
    end();
  }
  tokens.finish(std::array<TileAccesses, 2>());
  EXPECT_EQ(usesOf(0), "0 takes 1 space; 1 takes 1 space; ");
  EXPECT_EQ(usesOf(1), "0 gives 1 space; 1 gives 1 space; ");
  for (const TokenUse& use : tokens.usesOf(0)) {
    EXPECT_EQ(tokens.locks()[static_cast<std::size_t>(use.lock)].tile, use.op);
  }
}

// Places of rows that a lock can't count, with those that it begins with on top, are counted by
// writes.
TEST_F(TokensTest, PlacesThatALockCannotCountByRowsAreCountedByWrites) {
  const auto told = [&](std::int64_t most) {
    tokens = Tokens(most);
    tile[0] = TileAccesses();
    ringOfPieces(4, {2, 2, 2});
    tokens.finish(tile);
    return initialSpace();
  };
  EXPECT_EQ(told(12), 4);
  EXPECT_EQ(told(11), 2);
}

TEST_F(TokensTest, WhatOthersBringNeedsNoToken) {
  at(0, 0);
  write(0, 8);
  tokens.end();
  at(1, 0);
  read(0, 8);
  write(8, 16);
  tokens.end();
  at(2, 0);
  read(8, 16);
  write(0, 8);  // queue 1, which it waits for, has read what queue 0 wrote
  tokens.end();
  tokens.finish(tile);
  ASSERT_EQ(tokens.locks().size(), 2u);
  EXPECT_EQ(usesOf(0), "0 gives 1 data; ");
  EXPECT_EQ(usesOf(2), "0 takes 1 data; ");
}

TEST(KnownOrder, WhoMeetsKnowsWhatAnyOfThemKnew) {
  KnownOrder order;
  const auto tell = [&](const std::vector<Operation>& together,
                        const std::vector<Operation>& after = {}) {
    order.begin(together, 0);
    for (const Operation& ended : after) order.await(ended);
    order.end();
  };
  tell({{0, 0}});
  tell({{1, 0}}, {{0, 0}});
  tell({{2, 0}, {1, 1}});  // a transfer of queue 2 to queue 1
  order.begin(std::array{Operation{2, 1}}, 0);
  EXPECT_TRUE(order.knows({0, 0}));
  EXPECT_TRUE(order.knows({1, 1}));
  EXPECT_FALSE(order.knows({0, 1}));
  order.end();
}

TEST(KnownOrder, OfLongAgoItKnowsNoMoreThanIsTrue) {
  KnownOrder order;
  for (std::int32_t step = 0; step < 4; ++step)
    for (std::int32_t op = 0; op < 3; ++op) {
      order.begin(std::array{Operation{0, 3 * step + op}}, step);
      order.end();
      order.begin(std::array{Operation{1, 3 * step + op}}, step);
      order.await({0, 3 * step + op});
      order.end();
    }
  EXPECT_EQ(order.latest({1, 10}, 0), 10);
  EXPECT_EQ(order.latest({1, 2}, 0), 2);
  EXPECT_LE(order.latest({1, 1}, 0), 1);
}

// In one long step: what is recent exactly, the rest in ever larger steps, none of it in full.
TEST(KnownOrder, OfALongStepItRemembersWhatIsRecent) {
  KnownOrder order;
  constexpr std::int32_t kOperations = 50'000, kRecent = 4'000;
  for (std::int32_t op = 0; op < kOperations; ++op) {
    order.begin(std::array{Operation{0, op}}, 0);
    order.end();
    order.begin(std::array{Operation{1, op}}, 0);
    order.await({0, op});
    order.end();
  }
  std::int32_t remembered = 0;
  for (std::int32_t op = 0; op < kOperations; ++op) {
    const std::int32_t latest = order.latest({1, op}, 0);
    ASSERT_LE(latest, op);
    if (op >= kOperations - kRecent) {
      ASSERT_EQ(latest, op);
    }
    remembered += latest == op ? 1 : 0;
  }
  EXPECT_LT(remembered, 10'000);
  EXPECT_GT(order.latest({1, kOperations / 2}, 0), kOperations / 4);
}

// ---- from one frame to the next -----------------------------------------------------------------

// Each row of the next frame waits for who has read this frame's, and may all come before that.
TEST_F(TokensTest, AFrameWaitsForTheReadersOfTheOneBefore) {
  ring(8, 3, 0, 0);
  nextFrame({3, 3});
  for (std::int32_t row = 0; row < 3; ++row) {
    at(0, 3 + row, 1);
    write(row * 8, row * 8 + 8);
    end();
    at(1, 3 + row, 1);
    read(row * 8, row * 8 + 8);
    end();
  }
  next->finish();
  EXPECT_EQ(initialOf(LockPurpose::NextFrame), 3);
  EXPECT_EQ(usesOf(0),
            "0 takes 1 frame; 0 gives 1 data; 1 takes 1 frame; 1 gives 1 data; 2 takes 1 frame; "
            "2 gives 1 data; ");
  EXPECT_EQ(usesOf(1),
            "0 takes 1 data; 0 gives 1 frame; 1 takes 1 data; 1 gives 1 frame; 2 takes 1 data; "
            "2 gives 1 frame; ");
}

// What the readers give back at a frame's end is what the next frame begins with.
TEST_F(TokensTest, ARingThatEndsAsItBeganNeedsNoTokensBetweenFrames) {
  ring(2, 4, 0, 0);
  nextFrame({4, 4});
  ring(2, 4, 1, 4);
  next->finish();
  EXPECT_EQ(initialOf(LockPurpose::NextFrame), -1);
  EXPECT_EQ(initialSpace(), 2);
}

// Queue 0's second write waits for queue 1's first one in its own frame, and that came after all
// that queue 1 did in the frame before.
TEST_F(TokensTest, WhatAFrameOrdersByItselfNeedsNoTokenBetweenFrames) {
  const auto frame = [&](std::int32_t first, std::int32_t step) {
    at(0, first, step);
    write(0, 8);
    end();
    at(1, first, step);
    read(0, 8);
    write(16, 24);
    end();
    at(0, first + 1, step);
    read(16, 24);
    write(8, 16);
    end();
    at(1, first + 1, step);
    read(8, 16);
    end();
  };
  frame(0, 0);
  nextFrame({2, 2});
  frame(2, 1);
  next->finish();
  EXPECT_EQ(initialOf(LockPurpose::NextFrame), -1);
}

}  // namespace
}  // namespace heddle
