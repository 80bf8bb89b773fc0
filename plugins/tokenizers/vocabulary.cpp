#include "vocabulary.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <utility>

#include "file.h"
#include "text.h"

namespace tenon::tokenizers {
namespace {

using files::printable;
using files::raise;

constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

struct Seeds {
  uint64_t base, odd;
};

const Seeds& seeds() {
  static const Seeds drawn = [] {
    std::random_device device;
    const auto word = [&] { return uint64_t{device()} << 32 | device(); };
    return Seeds{word() % (kPrime - 1000) + 500, word() | 1};
  }();
  return drawn;
}

// A polynomial at a point that no file knows: two texts meet with a chance of their length in 2^61.
uint64_t hash_on(uint64_t hash, char c, const Seeds& seed) {
  const auto product = static_cast<unsigned __int128>(hash) * seed.base + static_cast<uint8_t>(c);
  hash = static_cast<uint64_t>(product & kPrime) + static_cast<uint64_t>(product >> 61);
  return hash >= kPrime ? hash - kPrime : hash;
}
uint64_t hash_of(std::string_view text) {
  const Seeds& seed = seeds();
  uint64_t hash = 1;
  for (const char c : text) hash = hash_on(hash, c, seed);
  return hash;
}

// Half of the slots stay free.
size_t slots_for(size_t n) { return std::bit_ceil(2 * n + 2); }

size_t first_slot(uint64_t hash, size_t slots) {
  return static_cast<size_t>(hash * seeds().odd >> (64 - std::countr_zero(slots)));
}

}  // namespace

Vocabulary::Vocabulary(StringTable tokens, std::vector<int64_t> ids, const std::string& place)
    : tokens_(std::move(tokens)), ids_(std::move(ids)), slots_(slots_for(tokens_.size())) {
  for (size_t i = 0; i < tokens_.size(); ++i) {
    uint32_t& slot = slots_[slot_of(tokens_[i], hash_of(tokens_[i]))];
    if (slot != 0) {
      raise(TN_DATA_LOSS, "{}: the token '{}' is there twice", place, printable(tokens_[i]));
    }
    slot = static_cast<uint32_t>(i + 1);
    longest_ = std::max(longest_, tokens_[i].size());
  }
  by_id_.resize(tokens_.size());
  std::iota(by_id_.begin(), by_id_.end(), 0);
  std::ranges::sort(by_id_, {}, [this](uint32_t i) { return ids_[i]; });
  const auto twice = std::ranges::adjacent_find(by_id_, {}, [this](uint32_t i) { return ids_[i]; });
  if (twice != by_id_.end()) {
    raise(TN_DATA_LOSS, "{}: the id {} is that of '{}' and of '{}'", place, ids_[*twice],
          printable(tokens_[twice[0]]), printable(tokens_[twice[1]]));
  }
}

size_t Vocabulary::slot_of(std::string_view token, uint64_t hash) const {
  size_t slot = first_slot(hash, slots_.size());
  while (slots_[slot] != 0 && tokens_[slots_[slot] - 1] != token) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

int64_t Vocabulary::find(std::string_view token) const {
  if (slots_.empty()) return -1;
  const uint32_t found = slots_[slot_of(token, hash_of(token))];
  return found == 0 ? -1 : ids_[found - 1];
}

int64_t Vocabulary::find_longest(std::string_view text, size_t least, size_t* bytes) const {
  const std::string_view most = text.substr(0, longest_);
  const Seeds& seed = seeds();
  std::vector<uint64_t> hashes;  // of what the text begins with, by its bytes
  hashes.reserve(most.size() + 1);
  hashes.push_back(1);
  for (const char c : most) hashes.push_back(hash_on(hashes.back(), c, seed));
  for (size_t n = most.size(); n > least; --n) {
    if (n < text.size() && U8_IS_TRAIL(text[n])) continue;  // inside of a character
    const uint32_t found = slots_[slot_of(text.substr(0, n), hashes[n])];
    *bytes = n;
    if (found != 0) return ids_[found - 1];
  }
  return -1;
}

bool Vocabulary::token(int64_t id, std::string_view* text) const {
  const auto at = std::ranges::lower_bound(by_id_, id, {}, [this](uint32_t i) { return ids_[i]; });
  if (at == by_id_.end() || ids_[*at] != id) return false;
  *text = tokens_[*at];
  return true;
}

MergeTable::MergeTable(size_t n) : slots_(slots_for(n)), used_(slots_.size()) {}

size_t MergeTable::slot_of(uint64_t pair) const {
  // Each half is mixed with a number of its own, so that pairs of few tokens are spread, too.
  uint64_t hash = (pair ^ seeds().base) * (seeds().base << 1 | 1);
  hash ^= hash >> 32;
  size_t slot = first_slot(hash, slots_.size());
  while (used_[slot] && slots_[slot].pair != pair) slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

void MergeTable::set(const Merge& merge) {
  const size_t slot = slot_of(merge.pair);
  slots_[slot] = merge;
  used_[slot] = true;
}

const Merge* MergeTable::find(uint64_t left, uint64_t right) const {
  const size_t slot = slot_of(pair_of(left, right));
  return used_[slot] ? &slots_[slot] : nullptr;
}

}  // namespace tenon::tokenizers
