// The last resort of fixed steps against bodies that go through each other. Rows of contacts freeze lever arms, so that
// a hit off the centre can be answered by spin while the centre flies on. A centre of mass moves straight however its
// body turns: a row on that way, without a lever arm, holds for the whole step (docs/step.md).
#pragma once

#include <slipstick/model.h>
#include <slipstick/state.h>

#include <string_view>
#include <vector>

#include "audit/fast_pairs.h"
#include "collision/contact_finder.h"

namespace slipstick {

/// How often a trial is repeated with rows on the way of the centres.
inline constexpr int kMaxCoreRepeats = 6;
/// A step without contacts that oppose a row on the way of the centres is not certified, and says this.
inline constexpr std::string_view kLeftOut =
    "contacts of a body that is deep in another would push it through, and were left out";

class CoreRows {
 public:
  explicit CoreRows(const Model& model) : model_(model) {}  ///< keeps a reference

  /// Nothing is known of the trials to come.
  void begin() { rows_.clear(); }
  /// After a trial from `from`, whose fast pairs are known: true if a core went into its partner, and a row against
  /// that was added or made stricter.
  bool find(const State& from, FastPairs* fast, ContactFinder* finder);
  struct First {
    double when = kInfinity;  ///< share of the way after which a core goes into something; above 1: none does
    bool near = false;        ///< it is so near at the start that its ball is in there already
  };
  /// The first of all, whose rows are not kept.
  First find_first(const State& from, FastPairs* fast, ContactFinder* finder) const;
  struct Passage {
    double enters = kInfinity, leaves = kInfinity;  ///< shares of the way; above 1: there is none
  };
  /// The first corner that has gone right through the surface of a partner, and is on the other side at the end.
  Passage find_passage(const State& from, FastPairs* fast, ContactFinder* finder) const;
  /// Puts the rows into a set, in place of those that it had.
  void put_into(ContactSet* contacts) const;
  void append_to(ContactSet* contacts) const;
  /// Whether it is a contact of a pair with a row, and pushes against it.
  bool opposes(const Contact& contact) const;

 private:
  struct Hit {
    FastPair pair;
    double when = 0;             ///< share of the way
    Vec3 point = Vec3::Zero();   ///< of the partner, where that was at the start
    Vec3 normal = Vec3::Zero();  ///< outward, the same
    Vec3 start = Vec3::Zero();   ///< of the core
    Vec3 end = Vec3::Zero();     ///< the same, in the partner's frame of the start
  };
  struct Row {
    Hit hit;
    int times = 0;
    Contact contact;
  };
  template <typename Use>
  void for_each_hit(const State& from, FastPairs* fast, ContactFinder* finder, Use&& use) const;
  bool cast(const FastPair& pair, const Vec3& point, std::span<const PlacedShape> placed, FastPairs* fast,
            Hit* hit) const;
  void keep(const Hit& hit, FastPairs* fast);
  void update_row(FastPairs* fast, Row* row) const;

  const Model& model_;
  std::vector<Row> rows_;
};

}  // namespace slipstick
