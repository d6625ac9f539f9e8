// Columns of contacts. Most contacts last for many frames and change little: a packed one is written as its difference
// from the contact of the frame before that has the same two bodies and the same place among those of the two.
#include "view/clip.h"

#include <unordered_map>

namespace slipstick {

namespace {

/// For each contact, the row that it is compared with, or -1. viewer/src/data/packet.js finds the same rows.
std::vector<std::ptrdiff_t> find_predecessors(std::span<const double> counts, std::span<const ClipContact> contacts) {
  std::vector<std::ptrdiff_t> predecessor(contacts.size(), -1);
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> before, now;
  std::size_t row = 0;
  for (const double count : counts) {
    now.clear();
    for (const std::size_t end = row + static_cast<std::size_t>(count); row < end; ++row) {
      const RecordContact& c = contacts[row].contact;
      const std::uint64_t pair = (static_cast<std::uint64_t>(c.a + 1) << 32) | static_cast<std::uint32_t>(c.b + 1);
      std::vector<std::size_t>& rows = now[pair];
      const auto found = before.find(pair);
      if (found != before.end() && rows.size() < found->second.size())
        predecessor[row] = static_cast<std::ptrdiff_t>(found->second[rows.size()]);
      rows.push_back(row);
    }
    std::swap(before, now);
  }
  return predecessor;
}

struct Column {
  const char* name;
  std::size_t width;
  double scale;
  std::vector<double> values;
};

std::vector<Column> make_columns(std::span<const ClipContact> contacts, const ClipPrecision& precision,
                                 double typical_force) {
  std::vector<Column> columns{{"point", 3, precision.point, {}},
                              {"normal", 3, precision.normal, {}},
                              {"force", 3, precision.force * (typical_force > 0 ? typical_force : 1), {}},
                              {"gap", 1, precision.gap, {}},
                              {"friction", 1, 1e-6, {}},
                              {"slip", 1, precision.slip, {}},
                              {"unique", 1, 1, {}}};
  for (const ClipContact& c : contacts) {
    columns[0].values.insert(columns[0].values.end(), c.contact.point.begin(), c.contact.point.end());
    columns[1].values.insert(columns[1].values.end(), c.contact.normal.begin(), c.contact.normal.end());
    columns[2].values.insert(columns[2].values.end(), c.force.begin(), c.force.end());
    columns[3].values.push_back(c.contact.gap);
    columns[4].values.push_back(c.contact.friction);
    columns[5].values.push_back(c.slip);
    columns[6].values.push_back(c.contact.unique);
  }
  return columns;
}

}  // namespace

void add_contacts(std::span<const double> counts, std::span<const ClipContact> contacts, const ClipPrecision* precision,
                  double typical_force, Packet* packet) {
  std::vector<double> a, b;
  for (const ClipContact& c : contacts) {
    a.push_back(c.contact.a);
    b.push_back(c.contact.b);
  }
  const std::vector<std::ptrdiff_t> predecessor = find_predecessors(counts, contacts);
  packet->add_packed("contact_count", counts, 1, 1);
  packet->add_packed("a", a, 1, 1);
  packet->add_packed("b", b, 1, 1);
  for (const Column& column : make_columns(contacts, precision ? *precision : ClipPrecision{}, typical_force)) {
    if (!precision) {
      const std::vector<float> values(column.values.begin(), column.values.end());
      packet->add(column.name, values, column.width);
      continue;
    }
    const double scale = calc_scale(column.values, column.scale);
    std::vector<std::int32_t> steps(column.values.size());
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = quantize(column.values[i], scale);
    std::vector<std::int32_t> differences = steps;
    for (std::size_t row = 0; row < contacts.size(); ++row)
      for (std::size_t k = 0; k < column.width && predecessor[row] >= 0; ++k)
        differences[row * column.width + k] -= steps[static_cast<std::size_t>(predecessor[row]) * column.width + k];
    packet->add_integers(column.name, differences, column.width, scale, {{"predict", "pair"}});
  }
}

}  // namespace slipstick
