// Byte pair encoding (Sennrich et al., 2016): a piece begins as its characters, and of all neighbours
// that the file lets merge those of the lowest rank do, the leftmost first, until none is left. A heap
// of candidates over a linked list: n log n for a piece of n characters.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "stages.h"
#include "text.h"

namespace tenon::tokenizers {
namespace {

using files::printable;
using files::raise;

constexpr uint32_t kNone = UINT32_MAX;

struct Symbol {
  uint32_t id;
  uint32_t previous, next;  // kNone at the ends
  bool merged = false;      // is part of one to its left
};
using Symbols = std::vector<Symbol>;

struct Candidate {
  uint32_t rank, at, id;
  // The best one is the largest, as std::push_heap has it.
  bool operator<(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};

struct Options {
  std::string unk_token, prefix, suffix, place;
  bool fuse_unk = false, byte_fallback = false, ignore_merges = false;
};

class Bpe : public Model {
 public:
  Bpe(Vocabulary vocabulary, MergeTable merges, Options options)
      : Model(std::move(vocabulary)), merges_(std::move(merges)), options_(std::move(options)) {
    for (int byte = 0; byte < 256; ++byte) {
      bytes_[static_cast<size_t>(byte)] = this->vocabulary().find(fmt::format("<0x{:02X}>", byte));
    }
  }

  void tokenize(std::string_view piece, Ids* ids) const override {
    if (options_.ignore_merges) {
      const int64_t whole = vocabulary().find(piece);
      if (whole >= 0) return ids->push_back(whole);
    }
    Symbols symbols = symbols_of(piece);
    merge(&symbols);
    for (const Symbol& symbol : symbols) {
      if (!symbol.merged) ids->push_back(symbol.id);
    }
  }

 private:
  static void add(Symbols* symbols, int64_t id) {
    const auto n = static_cast<uint32_t>(symbols->size());
    if (n > 0) symbols->back().next = n;
    symbols->push_back({static_cast<uint32_t>(id), n > 0 ? n - 1 : kNone, kNone});
  }

  // The characters of a piece. One that is unknown waits until the next known one: unknown ones beside
  // each other can be one.
  Symbols symbols_of(std::string_view piece) const {
    Symbols symbols;
    symbols.reserve(piece.size());
    bool unknown = false;
    std::string text;
    for (size_t at = 0; at < piece.size();) {
      const size_t begin = at;
      next_character(piece, &at);
      text.assign(begin > 0 ? options_.prefix : "").append(piece.substr(begin, at - begin));
      if (at == piece.size()) text += options_.suffix;
      const int64_t id = vocabulary().find(text);
      if (id >= 0) {
        if (unknown) add(&symbols, unk_id(text));
        unknown = false;
        add(&symbols, id);
      } else if (!add_bytes(&symbols, text) && !options_.unk_token.empty()) {
        if (unknown && !options_.fuse_unk) add(&symbols, unk_id(text));
        unk_id(text);
        unknown = true;
      }
    }
    if (unknown) add(&symbols, unk_id(text));
    return symbols;
  }

  bool add_bytes(Symbols* symbols, const std::string& text) const {
    if (!options_.byte_fallback) return false;
    const auto id_of = [this](char c) { return bytes_[static_cast<uint8_t>(c)]; };
    if (std::ranges::any_of(text, [&](char c) { return id_of(c) < 0; })) return false;
    for (const char c : text) add(symbols, id_of(c));
    return true;
  }

  int64_t unk_id(const std::string& text) const {
    const int64_t id = vocabulary().find(options_.unk_token);
    if (id < 0) {
      raise(TN_NOT_FOUND, "{}: '{}' is not in the vocabulary, nor is the unk_token '{}'",
            options_.place, printable(text), printable(options_.unk_token));
    }
    return id;
  }

  void push(const Symbols& symbols, uint32_t at, std::vector<Candidate>* heap) const {
    const uint32_t next = symbols[at].next;
    if (next == kNone) return;
    const Merge* merge = merges_.find(symbols[at].id, symbols[next].id);
    if (merge == nullptr) return;
    heap->push_back({merge->rank, at, merge->id});
    std::push_heap(heap->begin(), heap->end());
  }

  void merge(Symbols* list) const {
    Symbols& symbols = *list;
    std::vector<Candidate> heap;
    for (uint32_t at = 0; at < symbols.size(); ++at) push(symbols, at, &heap);
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end());
      const Candidate best = heap.back();
      heap.pop_back();
      Symbol& left = symbols[best.at];
      if (left.merged || left.next == kNone) continue;
      Symbol& right = symbols[left.next];
      const Merge* merge = merges_.find(left.id, right.id);
      if (merge == nullptr || merge->id != best.id) continue;  // one of them became another
      left.id = merge->id;
      left.next = right.next;
      right.merged = true;
      if (left.next != kNone) symbols[left.next].previous = best.at;
      if (left.previous != kNone) push(symbols, left.previous, &heap);
      push(symbols, best.at, &heap);
    }
  }

  MergeTable merges_;
  Options options_;
  std::array<int64_t, 256> bytes_{};
};

// Left and right without the right one's prefix is the merged token; all three are in the vocabulary.
MergeTable merges_of(const Vocabulary& vocabulary, const StringTable& texts,
                     const std::string& prefix, const std::string& place) {
  MergeTable merges(texts.size() / 2);
  for (size_t i = 0; i < texts.size(); i += 2) {
    const auto id_of = [&](std::string_view token) {
      const int64_t id = vocabulary.find(token);
      if (id < 0) {
        raise(TN_DATA_LOSS, "{}[{}]: the token '{}' is not in the vocabulary", place, i / 2,
              printable(token));
      }
      return static_cast<uint64_t>(id);
    };
    const std::string_view left = texts[i], right = texts[i + 1];
    const uint64_t pair = MergeTable::pair_of(id_of(left), id_of(right));
    if (right.size() < prefix.size()) {
      raise(TN_DATA_LOSS, "{}[{}]: '{}' is shorter than continuing_subword_prefix '{}'", place,
            i / 2, printable(right), printable(prefix));
    }
    const std::string merged = std::string(left).append(right.substr(prefix.size()));
    merges.set({pair, static_cast<uint32_t>(i / 2), static_cast<uint32_t>(id_of(merged))});
  }
  return merges;
}

}  // namespace

std::unique_ptr<Model> read_bpe(Fields fields, Document* document) {
  Options options;
  options.place = fields.place();
  options.unk_token = fields.text("unk_token", "");
  options.prefix = fields.text("continuing_subword_prefix", "");
  options.suffix = fields.text("end_of_word_suffix", "");
  options.fuse_unk = fields.flag("fuse_unk", false);
  options.byte_fallback = fields.flag("byte_fallback", false);
  options.ignore_merges = fields.flag("ignore_merges", false);
  if (fields.has("dropout") && fields.real("dropout") != 0) {
    fields.refuse("dropout {} is not supported, only null and 0", fields.real("dropout"));
  }
  fields.finish();
  expect_short(fields, "continuing_subword_prefix", options.prefix);
  expect_short(fields, "end_of_word_suffix", options.suffix);
  if (!document->has_merges) fields.refuse("the field 'merges' is missing");
  Vocabulary vocabulary(std::move(document->tokens), std::move(document->ids),
                        fields.place("vocab"));
  MergeTable merges =
      merges_of(vocabulary, document->merges, options.prefix, fields.place("merges"));
  return std::make_unique<Bpe>(std::move(vocabulary), std::move(merges), std::move(options));
}

}  // namespace tenon::tokenizers
