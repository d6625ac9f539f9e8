#include "scene/scene_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "scene/scene_item.h"

namespace slipstick {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMaxIncludeDepth = 32;
constexpr std::size_t kMaxFiles = 1000;
constexpr std::size_t kMaxDataBytes = 512u << 20;  // of one mesh or heightfield

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// The file's bytes, or why not.
struct ReadText {
  std::string text;
  std::string problem;
};

ReadText read_text(const fs::path& path, std::size_t limit) {
  ReadText result;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    result.problem = "is a folder, not a scene file";
    return result;
  }
  const std::unique_ptr<std::FILE, FileCloser> file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    result.problem = "cannot open the file: " + std::generic_category().message(errno);
    return result;
  }
  std::array<char, 65536> chunk;
  std::size_t count = 0;
  while ((count = std::fread(chunk.data(), 1, chunk.size(), file.get())) > 0) {
    result.text.append(chunk.data(), count);
    if (result.text.size() > limit) {
      result.problem = "larger than the limit of " + std::to_string(limit) + " bytes for the files of a scene";
      result.text.clear();
      return result;
    }
  }
  if (std::ferror(file.get())) result.problem = "cannot read the file: " + std::generic_category().message(errno);
  return result;
}

/// Absolute first: what does not exist would stay relative, and seem to lie outside of every folder.
fs::path as_canonical(const fs::path& path) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(fs::absolute(path.empty() ? fs::path(".") : path, error), error);
  return error ? path.lexically_normal() : result;
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end() || (std::next(end) == folder.end() && end->empty());
}

}  // namespace

SceneFile* SceneFiles::add(const fs::path& shown, const fs::path& real, std::string text) {
  auto file = std::make_unique<SceneFile>();
  file->index = faults_->add_file(shown.string());
  file->shown = shown;
  file->real = real;
  file->text = std::move(text);
  bytes_ += file->text.size();
  files_.push_back(std::move(file));
  return files_.back().get();
}

const SceneFile* SceneFiles::load(const std::string& path) {
  ReadText content = read_text(path, options_.max_file_bytes);
  if (!content.problem.empty()) {
    faults_->add_unplaced(faults_->add_file(path), std::move(content.problem));
    return nullptr;
  }
  return parse(content.text, path);
}

const SceneFile* SceneFiles::parse(const std::string& text, const std::string& name) {
  folder_ = as_canonical(fs::path(name).parent_path());
  SceneFile* file = add(name, as_canonical(name), text);
  if (text.size() > options_.max_file_bytes) {
    faults_->add_unplaced(file->index,
                          "larger than the limit of " + std::to_string(options_.max_file_bytes) + " bytes");
    return nullptr;
  }
  read(file);
  return file->document.root != nullptr ? file : nullptr;
}

void SceneFiles::read(SceneFile* file) {
  parse_document(file->text, file->index, &file->document, faults_);
  const SceneNode* root = file->document.root;
  if (root == nullptr) return;
  if (!root->is_map()) {
    faults_->add(*root, "expected a map of keys such as 'slipstick: 1', got " + describe(*root));
    file->document.root = nullptr;
    return;
  }
  const SceneNode* list = root->find("include");
  if (list == nullptr || list->kind == SceneNode::Kind::Null) return;
  open_.push_back(file);
  file->open = true;
  const std::vector<const SceneNode*> single{list};
  for (const SceneNode* item : list->is_list() ? list->items : single) read_include(*item, file);
  file->open = false;
  open_.pop_back();
}

void SceneFiles::read_include(const SceneNode& item, SceneFile* from) {
  SceneFile::Include result{&item, nullptr, nullptr};
  const SceneNode* name = &item;
  if (item.is_map()) {
    const KeyList legal{"file", "prefix", "repeat"};
    for (std::size_t i = 0; i + 1 < item.items.size(); i += 2) {
      const std::string& key = item.items[i]->text;
      if (std::find(legal.begin(), legal.end(), key) == legal.end()) {
        faults_->add(*item.items[i], "unknown key '" + key + "' in include (known: " + as_list(legal) + ")");
      }
    }
    name = item.find("file");
    result.prefix = item.find("prefix");
  }
  if (name == nullptr) {
    faults_->add(item, "missing key 'file' in include");
  } else if (!name->is_scalar() || name->text.empty()) {
    faults_->add(*name, "expected the name of a file to include, got " + describe(*name));
  } else {
    result.file = include(*name, from);
  }
  complete_ &= result.file != nullptr;
  if (result.file != nullptr) from->includes.push_back(result);
}

const SceneFile* SceneFiles::include(const SceneNode& name, SceneFile* from) {
  const fs::path shown = (from->shown.parent_path() / name.text).lexically_normal();
  const fs::path real = as_canonical(shown);
  const auto fail = [&](const std::string& why) {
    faults_->add(name, "include '" + name.text + "': " + why);
    return nullptr;
  };
  if (!options_.allow_path && !is_below(real, folder_)) {
    return fail("lies outside the scene's folder; allow it with --allow-path");
  }
  const auto known = std::find_if(files_.begin(), files_.end(), [&](const auto& f) { return f->real == real; });
  if (known != files_.end()) {
    if (!(*known)->open) return (*known)->document.root != nullptr ? known->get() : nullptr;
    std::string circle;
    const auto start = std::find(open_.begin(), open_.end(), known->get());
    for (auto it = start; it != open_.end(); ++it) circle += (*it)->shown.string() + " -> ";
    return fail("a cycle of includes: " + circle + shown.string());
  }
  if (open_.size() >= kMaxIncludeDepth) return fail("includes are nested too deeply");
  if (files_.size() >= kMaxFiles) return fail("more than " + std::to_string(kMaxFiles) + " files");
  std::error_code error;
  if (fs::exists(real, error) && !fs::is_regular_file(real, error)) return fail("is not a regular file");
  ReadText content = read_text(real, options_.max_file_bytes - std::min(bytes_, options_.max_file_bytes));
  if (!content.problem.empty()) return fail(content.problem);
  SceneFile* file = add(shown, real, std::move(content.text));
  read(file);
  return file->document.root != nullptr ? file : nullptr;
}

std::vector<std::string> SceneFiles::names() const {
  std::vector<std::string> names;
  for (const auto& file : files_) names.push_back(file->real.string());
  for (const auto& [path, bytes] : data_) names.push_back(path.string());
  return names;
}

const std::string* SceneFiles::read_data(const SceneNode& node, const std::string& text) {
  const auto fail = [&](const std::string& why) {
    faults_->add(node, "file '" + text + "': " + why);
    return nullptr;
  };
  if (text.empty()) return fail("expected the name of a file");
  const auto from = std::find_if(files_.begin(), files_.end(), [&](const auto& f) { return f->index == node.file; });
  const fs::path folder = from == files_.end() ? folder_ : (*from)->shown.parent_path();
  const fs::path real = as_canonical((folder / text).lexically_normal());
  if (!options_.allow_path && !is_below(real, folder_)) {
    return fail("lies outside the scene's folder; allow it with --allow-path");
  }
  if (const auto known = data_.find(real); known != data_.end()) return &known->second;
  if (data_.size() >= kMaxFiles) return fail("more than " + std::to_string(kMaxFiles) + " files");
  std::error_code error;
  if (fs::exists(real, error) && !fs::is_regular_file(real, error)) return fail("is not a regular file");
  const std::uintmax_t size = fs::file_size(real, error);
  if (!error && size > kMaxDataBytes) {
    return fail("has " + std::to_string(size) + " bytes, more than the limit of " + std::to_string(kMaxDataBytes) +
                "; simplify it");
  }
  ReadText content = read_text(real, kMaxDataBytes);
  if (!content.problem.empty()) return fail(content.problem);
  return &data_.emplace(real, std::move(content.text)).first->second;
}

}  // namespace slipstick
