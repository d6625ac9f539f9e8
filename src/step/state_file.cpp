#include <slipstick/output_file.h>
#include <slipstick/state_file.h>

#include "base/byte_stream.h"
#include "base/hash.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace slipstick {
namespace {

constexpr std::string_view kMagic = "SLIPSTAT";
constexpr std::uint32_t kFileVersion = 1;

std::uint64_t calc_checksum(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.value();
}

std::string as_hex(std::uint64_t x) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(x));
  return text;
}

std::string describe_model(const std::string& name, std::uint64_t digest) {
  return "'" + name + "' (model " + as_hex(digest) + ")";
}

}  // namespace

StateFile make_state_file(const Simulation& simulation, std::uint64_t start_hash) {
  return {simulation.state(), simulation.model().name, hash(simulation.model()),
          make_settings_text(simulation.options()), start_hash};
}

std::string make_file_bytes(const StateFile& file) {
  ByteWriter writer;
  writer.add_raw(kMagic);
  writer.add(kFileVersion);
  writer.add(file.model_hash);
  writer.add(file.start_hash);
  writer.add(std::string_view(file.model_name));
  writer.add(std::string_view(file.settings));
  writer.add(std::string_view(make_state_bytes(file.state)));
  writer.add(calc_checksum(writer.bytes()));
  return writer.bytes();
}

Result<StateFile> read_file_bytes(std::string_view bytes, const std::string& name) {
  const auto fault = [&](const std::string& message) { return Fault{{name, 0, 0}, message}; };
  ByteReader reader(bytes);
  if (reader.get_raw(kMagic.size()) != kMagic) return fault("is not a state file");
  std::uint32_t version = 0;
  reader.get(&version);
  if (reader.good() && version != kFileVersion)
    return fault("is a state file of version " + std::to_string(version) + "; this program reads version " +
                 std::to_string(kFileVersion));
  const Fault damaged = fault("is damaged: its checksum is wrong");
  std::uint64_t checksum = 0;
  if (bytes.size() < sizeof checksum) return damaged;
  ByteReader(bytes.substr(bytes.size() - sizeof checksum)).get(&checksum);
  if (checksum != calc_checksum(bytes.substr(0, bytes.size() - sizeof checksum))) return damaged;
  StateFile file;
  std::string state_bytes;
  reader.get(&file.model_hash);
  reader.get(&file.start_hash);
  reader.get(&file.model_name);
  reader.get(&file.settings);
  reader.get(&state_bytes);
  if (!reader.good()) return fault("is damaged: a length in it is wrong");
  Result<State> state = read_state_bytes(state_bytes);
  if (!state) return fault("holds " + state.faults().front().message);
  file.state = std::move(state).value();
  return file;
}

Faults save_state(const std::string& path, const StateFile& file) {
  OutputFile out;
  std::string fault;
  if (out.open(path, &fault) && out.write(make_file_bytes(file), &fault)) return {};
  return {Fault{{}, fault}};
}

Faults save_state(const std::string& path, const Simulation& simulation, std::uint64_t start_hash) {
  return save_state(path, make_state_file(simulation, start_hash));
}

Result<StateFile> load_state_file(const std::string& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) return Fault{{path, 0, 0}, "is a folder, not a state file"};
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Fault{{path, 0, 0}, "cannot be opened"};
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  return read_file_bytes(bytes.view(), path);
}

Result<State> load_state(const std::string& path, const Model& model) {
  Result<StateFile> file = load_state_file(path);
  if (!file) return file.faults();
  const std::string wrong = find_model_fault(*file, model);
  if (!wrong.empty()) return Fault{{path, 0, 0}, wrong};
  return std::move(file.value().state);
}

std::string find_model_fault(const StateFile& file, const Model& model) {
  const std::uint64_t digest = hash(model);
  if (file.model_hash != digest)
    return "is a state of " + describe_model(file.model_name, file.model_hash) + ", not of " +
           describe_model(model.name, digest) + "; a state goes on only in the model that it comes from";
  const Faults faults = find_state_faults(model, file.state);  // a file made on purpose may still lie
  return faults.empty() ? std::string() : "holds no state of its model: " + faults.front().message;
}

}  // namespace slipstick
