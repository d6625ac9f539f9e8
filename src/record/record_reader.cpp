#include "record/record_reader.h"

#include <algorithm>

namespace slipstick {

namespace {

/// Rows offset[i] to offset[i + 1] of a table; false when they are not in it.
bool is_range(const std::vector<std::int64_t>& offset, std::size_t i, std::size_t rows) {
  return offset[i] >= 0 && offset[i] <= offset[i + 1] && static_cast<std::size_t>(offset[i + 1]) <= rows;
}

template <std::size_t N>
std::array<double, N> take(const std::vector<double>& values, std::size_t row) {
  std::array<double, N> taken;
  std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * N), N, taken.begin());
  return taken;
}

bool is_body(std::int64_t index, std::size_t bodies) {
  return index >= -1 && index < static_cast<std::int64_t>(bodies);
}

bool are_bodies(const std::vector<std::int64_t>& indices, std::size_t bodies) {
  return std::all_of(indices.begin(), indices.end(), [&](std::int64_t i) { return is_body(i, bodies); });
}

bool are_kinds(const std::vector<std::int64_t>& kinds, std::size_t count) {
  return std::all_of(kinds.begin(), kinds.end(),
                     [&](std::int64_t k) { return k >= 0 && k < static_cast<std::int64_t>(count); });
}

}  // namespace

Result<RecordReader> RecordReader::open(const std::string& path) {
  auto file = Hdf5Reader::open(path);
  if (!file) return file.faults();
  if (file->has_variable_text("/", "format"))
    return Fault{{path, 0, 0},
                 "is of an earlier version, with texts that are not read any more because a damaged one crashes the "
                 "reader; make the recording again, or read it with h5py"};
  if (file->read_text_attribute("/", "format") != "slipstick recording")
    return Fault{{path, 0, 0},
                 "is an HDF5 file, but not a recording of a run ('slipstick run SCENE -o RUN.h5' makes one)"};
  RecordReader reader(path, std::move(file).value());
  const struct {
    const char* part;
    bool (RecordReader::*read)();
  } parts[] = {{"names", &RecordReader::read_root},         {"shapes", &RecordReader::read_shapes},
               {"surfaces", &RecordReader::read_surfaces},  {"links", &RecordReader::read_links},
               {"joints", &RecordReader::read_joint_names}, {"frames", &RecordReader::read_series},
               {"events", &RecordReader::read_events}};
  for (const auto& part : parts)
    if (!(reader.*part.read)())
      return Fault{
          {path, 0, 0},
          std::string("the recording's ") + part.part + " cannot be read: it is damaged or of another version"};
  if (reader.frames() == 0) return Fault{{path, 0, 0}, "the recording holds no frame yet"};
  return reader;
}

bool RecordReader::read_root() {
  const auto text = [&](const char* name) { return file_.read_text_attribute("/", name).value_or(""); };
  const auto number = [&](const char* name, double otherwise) {
    const auto values = file_.read_numbers_attribute("/", name);
    return values && values->size() == 1 ? values->front() : otherwise;
  };
  header_.scene_text = text("scene_text");
  header_.scene_hash = text("scene_hash");
  header_.command = text("command");
  header_.name = text("name");
  header_.scheme = text("scheme");
  header_.solver = text("solver");
  header_.software = text("software");
  header_.step = number("step", 0);
  header_.duration = number("duration", 0);
  header_.planar = number("planar", 0) != 0;
  header_.every = std::max(1, static_cast<int>(number("every", 1)));
  const auto gravity = file_.read_numbers_attribute("/", "gravity");
  if (gravity && gravity->size() == 3) header_.gravity = take<3>(*gravity, 0);

  if (const auto ended = file_.read_texts("/ended"); ended && ended->size() == 1) ended_ = ended->front();

  auto names = file_.read_texts("/names/bodies");
  if (!names) return false;
  header_.bodies = std::move(*names);
  const std::size_t nb = header_.bodies.size();
  header_.body_kinds.assign(nb, 0);
  if (const auto kinds = file_.read_integers("/names/body_kinds"); kinds && kinds->size() == nb)
    std::transform(kinds->begin(), kinds->end(), header_.body_kinds.begin(),
                   [](std::int64_t k) { return static_cast<std::int8_t>(k); });
  header_.masses.assign(nb, 0);
  header_.centers_of_mass.assign(nb, {});
  if (const auto mass = file_.read_numbers("/bodies/mass"); mass && mass->size() == nb) header_.masses = *mass;
  if (const auto center = file_.read_numbers("/bodies/center_of_mass"); center && center->size() == 3 * nb)
    for (std::size_t i = 0; i < nb; ++i) header_.centers_of_mass[i] = take<3>(*center, i);
  return true;
}

bool RecordReader::read_shapes() {
  header_.shape_kinds = file_.read_texts_attribute("/shapes", "kinds").value_or(std::vector<std::string>{});
  const auto body = file_.read_integers("/shapes/body"), kind = file_.read_integers("/shapes/kind");
  const auto visual_only = file_.read_integers("/shapes/visual_only"),
             offset = file_.read_integers("/shapes/points_offset");
  const auto pose = file_.read_numbers("/shapes/pose"), size = file_.read_numbers("/shapes/size");
  const auto radius = file_.read_numbers("/shapes/radius"), length = file_.read_numbers("/shapes/length");
  const auto points = file_.read_numbers("/shapes/points");
  const auto color = file_.read_texts("/shapes/color");
  if (!body || !kind || !visual_only || !offset || !pose || !size || !radius || !length || !points || !color)
    return false;
  const std::size_t n = body->size();
  if (kind->size() != n || visual_only->size() != n || offset->size() != n + 1 || pose->size() != 7 * n ||
      size->size() != 3 * n || radius->size() != n || length->size() != n || color->size() != n ||
      !are_bodies(*body, header_.bodies.size()) || !are_kinds(*kind, header_.shape_kinds.size()))
    return false;
  for (std::size_t i = 0; i < n; ++i) {
    RecordShape shape;
    shape.body = static_cast<int>((*body)[i]);
    shape.kind = static_cast<int>((*kind)[i]);
    shape.pose = take<7>(*pose, i);
    shape.size = take<3>(*size, i);
    shape.radius = (*radius)[i];
    shape.length = (*length)[i];
    shape.color = (*color)[i];
    shape.visual_only = (*visual_only)[i] != 0;
    if (!is_range(*offset, i, points->size() / 2)) return false;
    for (std::int64_t k = (*offset)[i]; k < (*offset)[i + 1]; ++k) shape.points.push_back(take<2>(*points, k));
    header_.shapes.push_back(std::move(shape));
  }
  return true;
}

bool RecordReader::read_surfaces() {
  const auto first_vertex = file_.read_integers("/shapes/vertices_offset");
  if (!first_vertex) return true;
  const auto vertices = file_.read_numbers("/shapes/vertices");
  const auto first_triangle = file_.read_integers("/shapes/triangles_offset");
  const auto triangles = file_.read_integers("/shapes/triangles");
  const std::size_t n = header_.shapes.size();
  if (!vertices || !first_triangle || !triangles || first_vertex->size() != n + 1 || first_triangle->size() != n + 1)
    return false;
  for (std::size_t i = 0; i < n; ++i) {
    RecordShape& shape = header_.shapes[i];
    if (!is_range(*first_vertex, i, vertices->size() / 3) || !is_range(*first_triangle, i, triangles->size() / 3))
      return false;
    for (std::int64_t k = (*first_vertex)[i]; k < (*first_vertex)[i + 1]; ++k)
      shape.vertices.push_back(take<3>(*vertices, k));
    for (std::int64_t k = (*first_triangle)[i]; k < (*first_triangle)[i + 1]; ++k) {
      std::array<std::int32_t, 3> triangle;
      for (int j = 0; j < 3; ++j) {
        const std::int64_t index = (*triangles)[3 * k + j];
        if (index < 0 || index >= static_cast<std::int64_t>(shape.vertices.size())) return false;
        triangle[j] = static_cast<std::int32_t>(index);
      }
      shape.triangles.push_back(triangle);
    }
  }
  return true;
}

bool RecordReader::read_links() {
  const auto name = file_.read_texts("/links/name");
  if (!name) return true;
  header_.link_kinds = file_.read_texts_attribute("/links", "kinds").value_or(std::vector<std::string>{});
  const auto kind = file_.read_integers("/links/kind");
  const auto a = file_.read_integers("/links/a"), b = file_.read_integers("/links/b");
  const auto anchor_a = file_.read_numbers("/links/anchor_a"), anchor_b = file_.read_numbers("/links/anchor_b");
  const auto axis = file_.read_numbers("/links/axis");
  const auto motor = file_.read_integers("/links/motor"), couples = file_.read_integers("/links/couples");
  const auto factors = file_.read_numbers("/links/factors");
  const std::size_t n = name->size();
  if (!kind || !a || !b || !anchor_a || !anchor_b || kind->size() != n || a->size() != n || b->size() != n ||
      anchor_a->size() != 3 * n || anchor_b->size() != 3 * n || !are_bodies(*a, header_.bodies.size()) ||
      !are_bodies(*b, header_.bodies.size()) || !are_kinds(*kind, header_.link_kinds.size()))
    return false;
  for (std::size_t i = 0; i < n; ++i) {
    RecordLink link{static_cast<int>((*kind)[i]),
                    (*name)[i],
                    static_cast<int>((*a)[i]),
                    static_cast<int>((*b)[i]),
                    take<3>(*anchor_a, i),
                    take<3>(*anchor_b, i),
                    {}};
    if (axis && axis->size() == 3 * n) link.axis = take<3>(*axis, i);
    if (motor && motor->size() == n) link.motor = static_cast<int>((*motor)[i]);
    if (factors && factors->size() == 3 * n) link.factors = take<3>(*factors, i);
    for (std::size_t k = 0; couples && couples->size() == 3 * n && k < 3; ++k) {
      const std::int64_t other = (*couples)[3 * i + k];
      link.couples[k] = other >= 0 && other < static_cast<std::int64_t>(n) ? static_cast<int>(other) : -1;
    }
    header_.links.push_back(std::move(link));
  }
  return true;
}

/// Recordings of another version have no joints; where there are names, the tables have a column for each.
bool RecordReader::read_joint_names() {
  auto names = file_.read_texts("/names/joints");
  if (!names) return true;
  const auto fits = [&](const char* path, std::vector<std::size_t> rest) {
    const auto shape = file_.shape(path);
    return shape && shape->size() == rest.size() + 1 && std::equal(rest.begin(), rest.end(), shape->begin() + 1);
  };
  const std::size_t n = names->size();
  if (!fits("/joint/position", {n}) || !fits("/joint/velocity", {n}) || !fits("/joint/motor", {n}) ||
      !fits("/joint/reaction", {n, 6}))
    return false;
  header_.joints = std::move(*names);
  if (auto sensors = file_.read_texts("/names/sensors")) {  // only where a scene has some
    if (!fits("/sensor", {sensors->size()})) return false;
    header_.sensors = std::move(*sensors);
  }
  return true;
}

std::optional<std::vector<double>> RecordReader::read_sensors(std::size_t first, std::size_t count,
                                                              std::size_t stride) const {
  if (header_.sensors.empty()) return std::vector<double>();
  return file_.read_number_rows("/sensor", first, count, stride);
}

std::optional<RecordJoints> RecordReader::read_joints(std::size_t first, std::size_t count, std::size_t stride) const {
  RecordJoints joints;
  if (header_.joints.empty()) return joints;
  auto position = file_.read_number_rows("/joint/position", first, count, stride);
  auto velocity = file_.read_number_rows("/joint/velocity", first, count, stride);
  auto motor = file_.read_number_rows("/joint/motor", first, count, stride);
  auto reaction = file_.read_number_rows("/joint/reaction", first, count, stride);
  if (!position || !velocity || !motor || !reaction) return std::nullopt;
  return RecordJoints{std::move(*position), std::move(*velocity), std::move(*motor), std::move(*reaction)};
}

bool RecordReader::read_series() {
  auto time = file_.read_numbers("/time");
  const auto pose = file_.shape("/pose"), velocity = file_.shape("/velocity");
  if (!time || !pose || !velocity) return false;
  const std::size_t n = time->size(), nb = header_.bodies.size();
  series_.time = std::move(*time);
  if (pose->size() != 3 || (*pose)[0] < n || (*pose)[1] != nb || (*pose)[2] != 7) return false;
  if (velocity->size() != 3 || (*velocity)[0] < n || (*velocity)[1] != nb || (*velocity)[2] != 6) return false;
  const auto numbers = [&](const char* path, std::size_t width, std::vector<double>* values) {
    if (auto read = file_.read_number_rows(path, 0, n); read && read->size() == n * width) *values = std::move(*read);
  };
  const auto integers = [&](const char* path, std::vector<std::int64_t>* values) {
    if (auto read = file_.read_integer_rows(path, 0, n); read && read->size() == n) *values = std::move(*read);
  };
  numbers("/energy", 3, &series_.energy);
  numbers("/certificate/residual", 1, &series_.residual);
  numbers("/certificate/relative", 1, &series_.relative);
  numbers("/certificate/penetration", 1, &series_.penetration);
  numbers("/certificate/joint_error", 1, &series_.joint_error);
  integers("/certificate/iterations", &series_.iterations);
  integers("/certificate/escalations", &series_.escalations);
  integers("/certificate/certified", &series_.certified);
  integers("/certificate/grade", &series_.grade);
  if (series_.grade.empty())
    for (const std::int64_t certified : series_.certified)
      series_.grade.push_back(static_cast<std::int64_t>(certified != 0 ? Grade::Exact : Grade::None));
  auto offset = file_.read_integer_rows("/contacts/offset", 0, n + 1);
  if (!offset) return false;
  for (std::size_t k = 0; k < n; ++k)
    if ((*offset)[k] < 0 || (*offset)[k] > (*offset)[k + 1]) return false;
  series_.contact_offset = std::move(*offset);
  has_friction_ = file_.has("/contacts/friction");
  return true;
}

bool RecordReader::read_events() {
  event_kinds_ = file_.read_texts_attribute("/events", "kinds").value_or(std::vector<std::string>{});
  const auto time = file_.read_numbers("/events/time");
  const auto kind = file_.read_integers("/events/kind");
  const auto a = file_.read_integers("/events/a"), b = file_.read_integers("/events/b");
  const auto before = file_.read_numbers("/events/before"), after = file_.read_numbers("/events/after");
  if (!time || !kind || !a || !b || !before || !after) return true;
  // A run that was killed may leave columns of unequal length.
  const std::size_t n = std::min({time->size(), kind->size(), a->size(), b->size(), before->size(), after->size()});
  for (std::size_t i = 0; i < n; ++i) {
    if ((*time)[i] > series_.time.back() || (*kind)[i] < 0 ||
        (*kind)[i] >= static_cast<std::int64_t>(event_kinds_.size()) || !is_body((*a)[i], header_.bodies.size()) ||
        !is_body((*b)[i], header_.bodies.size()))
      continue;
    events_.push_back({(*time)[i], static_cast<int>((*kind)[i]), static_cast<int>((*a)[i]), static_cast<int>((*b)[i]),
                       (*before)[i], (*after)[i]});
  }
  return true;
}

/// A run that was killed may leave the three datasets, and /time, of unequal length: the last one that is whole counts.
Result<StateFile> RecordReader::read_last_state() const {
  const auto frame = file_.read_integers("/state/frame"), offset = file_.read_integers("/state/offset");
  const auto bytes = file_.shape("/state/bytes");
  const std::size_t count = frame && offset && bytes && bytes->size() == 1 && !offset->empty()
                                ? std::min(frame->size(), offset->size() - 1)
                                : 0;
  Faults faults{Fault{{path_, 0, 0}, "holds no whole state to go on from"}};
  for (std::size_t i = count; i-- > 0;) {
    if ((*frame)[i] < 0 || (*frame)[i] >= static_cast<std::int64_t>(frames()) || !is_range(*offset, i, bytes->front()))
      continue;
    const auto stored = file_.read_byte_rows("/state/bytes", (*offset)[i], (*offset)[i + 1] - (*offset)[i]);
    if (!stored) continue;
    Result<StateFile> state = read_file_bytes(*stored, path_);
    if (state) return state;
    faults = state.faults();
  }
  return faults;
}

std::optional<std::vector<double>> RecordReader::read_poses(std::size_t first, std::size_t count,
                                                            std::size_t stride) const {
  return file_.read_number_rows("/pose", first, count, stride);
}

std::optional<std::vector<double>> RecordReader::read_velocities(std::size_t first, std::size_t count,
                                                                 std::size_t stride) const {
  return file_.read_number_rows("/velocity", first, count, stride);
}

bool RecordReader::read_contact_rows(std::size_t first, std::size_t count, std::vector<RecordContact>* contacts) const {
  const auto a = file_.read_integer_rows("/contacts/a", first, count),
             b = file_.read_integer_rows("/contacts/b", first, count);
  const auto point = file_.read_number_rows("/contacts/point", first, count);
  const auto normal = file_.read_number_rows("/contacts/normal", first, count);
  const auto impulse = file_.read_number_rows("/contacts/impulse", first, count);
  const auto gap = file_.read_number_rows("/contacts/gap", first, count);
  if (!a || !b || !point || !normal || !impulse || !gap || point->size() != 3 * count || normal->size() != 3 * count ||
      impulse->size() != 3 * count || !are_bodies(*a, header_.bodies.size()) || !are_bodies(*b, header_.bodies.size()))
    return false;
  const auto friction =
      has_friction_ ? file_.read_number_rows("/contacts/friction", first, count) : std::optional<std::vector<double>>();
  const auto unique = file_.has("/contacts/unique") ? file_.read_integer_rows("/contacts/unique", first, count)
                                                    : std::optional<std::vector<std::int64_t>>();
  for (std::size_t i = 0; i < count; ++i)
    contacts->push_back({static_cast<int>((*a)[i]), static_cast<int>((*b)[i]), take<3>(*point, i), take<3>(*normal, i),
                         take<3>(*impulse, i), (*gap)[i], friction ? (*friction)[i] : 0,
                         unique ? static_cast<int>((*unique)[i]) : 0});
  return true;
}

std::optional<RecordContacts> RecordReader::read_contacts(std::size_t first, std::size_t count,
                                                          std::size_t stride) const {
  const auto& offset = series_.contact_offset;
  if (stride < 1 || (count > 0 && (first >= frames() || (frames() - 1 - first) / stride < count - 1)))
    return std::nullopt;
  RecordContacts found;
  if (stride == 1 && count > 0) {  // one read for all
    const std::int64_t from = offset[first], to = offset[first + count];
    if (!read_contact_rows(from, to - from, &found.contacts)) return std::nullopt;
    for (std::size_t k = 0; k < count; ++k) found.offset.push_back(offset[first + k + 1] - from);
    return found;
  }
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t frame = first + k * stride;
    if (!read_contact_rows(offset[frame], offset[frame + 1] - offset[frame], &found.contacts)) return std::nullopt;
    found.offset.push_back(found.contacts.size());
  }
  return found;
}

}  // namespace slipstick
