// Contacts put into a set between those that it has, where it stands: in a large heap a second set is tens of
// megabytes.
#pragma once

#include <slipstick/state.h>

#include <cstddef>
#include <span>
#include <vector>

namespace slipstick {

/// item(i) comes before what is at place[i] of the set now; places ascend.
template <class F>
void insert_contacts(std::span<const std::size_t> place, const F& item, std::vector<Contact>* all) {
  std::size_t from = all->size(), to = from + place.size();
  all->resize(to);
  for (std::size_t i = place.size(); i-- > 0;) {
    while (from > place[i]) (*all)[--to] = (*all)[--from];
    (*all)[--to] = item(i);
  }
}

}  // namespace slipstick
