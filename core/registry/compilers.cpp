#include "registry/compilers.h"

#include <mutex>

namespace tenon {
namespace {

std::mutex mutex;
std::vector<Compiler>& list() {
  static auto* compilers = new std::vector<Compiler>;
  return *compilers;
}

}  // namespace

void add_compiler(const Compiler& compiler) {
  const std::scoped_lock lock(mutex);
  list().push_back(compiler);
}

void reset_compilers() {
  const std::scoped_lock lock(mutex);
  list().clear();
}

std::vector<Compiler> all_compilers() {
  const std::scoped_lock lock(mutex);
  return list();
}

}  // namespace tenon
