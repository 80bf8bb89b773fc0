// Plugins that were found and wait to be loaded, in search order; those that others need come
// first.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugin/manifest.h"

namespace tenon {

struct Candidate {
  std::filesystem::path file;
  std::filesystem::path identity;  // without links
  Manifest manifest;
  bool is_bundled = false;  // it lies in the folder of the install
};

class Candidates {
 public:
  using Loaded = std::function<bool(const std::string& id)>;

  void add(Candidate candidate);
  bool contains(const std::filesystem::path& identity) const;

  // Takes the first one whose needs are loaded, and whose id no earlier one bears. NULL: none.
  std::unique_ptr<Candidate> next(const Loaded& loaded);
  // Those that are left when next gave NULL, each with the reason: what it needs is not there, did
  // not load, or needs it.
  std::vector<std::pair<Candidate, std::string>> stuck(const Loaded& loaded) const;

 private:
  const Candidate* find(const std::string& id) const;
  std::string circle_from(const Candidate& start) const;

  std::vector<std::unique_ptr<Candidate>> waiting_;
  std::set<std::string> met_;  // ids of all that were added
};

}  // namespace tenon
