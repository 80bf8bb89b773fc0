#include "added_tokens.h"

#include <algorithm>
#include <utility>

#include "text.h"

namespace tenon::tokenizers {
namespace {

using files::printable;

// A search compares at most so many bytes at each place of a text.
constexpr size_t kMostTokenBytes = 4096;
constexpr size_t kNowhere = SIZE_MAX;

AddedToken read(Fields fields, const Vocabulary& vocabulary) {
  AddedToken token;
  token.content = fields.text("content");
  token.id = fields.number("id", 0, INT32_MAX);
  token.single_word = fields.flag("single_word");
  token.lstrip = fields.flag("lstrip");
  token.rstrip = fields.flag("rstrip");
  token.normalized = fields.flag("normalized");
  token.special = fields.flag("special");
  fields.finish();
  if (token.content.empty() || token.content.size() > kMostTokenBytes) {
    fields.refuse("the content has {} bytes, expected 1 to {}", token.content.size(),
                  kMostTokenBytes);
  }
  const int64_t own = vocabulary.find(token.content);
  std::string_view other;
  if (own >= 0 && own != token.id) {
    fields.refuse("the id of '{}' is {}, and {} in the vocabulary", printable(token.content),
                  token.id, own);
  }
  if (own < 0 && vocabulary.token(token.id, &other)) {
    fields.refuse("the id {} of '{}' is that of '{}' in the vocabulary", token.id,
                  printable(token.content), printable(other));
  }
  return token;
}

// Where the spaces at the end of `text` begin.
size_t begin_of_spaces(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0) {
    size_t at = begin;
    do {
      --at;
    } while (at > 0 && U8_IS_TRAIL(text[at]));
    size_t next = at;
    if (!is_space(next_character(text, &next))) break;
    begin = at;
  }
  return begin;
}

// The ends of spaces; those that were seen once are not looked at again.
class Spaces {
 public:
  explicit Spaces(std::string_view text) : text_(text) {}
  size_t end_from(size_t at) {
    if (at >= begin_ && at <= end_) return end_;
    begin_ = end_ = at;
    for (size_t next = at; next < text_.size(); end_ = next) {
      if (!is_space(next_character(text_, &next))) break;
    }
    return end_;
  }

 private:
  std::string_view text_;
  size_t begin_ = 1, end_ = 0;
};

bool ends_with_word(std::string_view text) {
  size_t at = text.size();
  if (at == 0) return false;
  do {
    --at;
  } while (at > 0 && U8_IS_TRAIL(text[at]));
  return is_word(next_character(text, &at));
}
bool starts_with_word(std::string_view text) {
  size_t at = 0;
  return !text.empty() && is_word(next_character(text, &at));
}

}  // namespace

AddedTokens::AddedTokens(std::vector<Fields> list, const Vocabulary& vocabulary,
                         const Normalizer& normalizer) {
  for (Fields& fields : list) {
    AddedToken token = read(fields, vocabulary);
    if (!by_id_.emplace(token.id, tokens_.size()).second) {
      fields.refuse("the id {} is there twice", token.id);
    }
    token.form = token.content;
    if (token.normalized && normalizer) normalizer(&token.form);
    if (token.form.empty() || token.form.size() > kMostTokenBytes) {
      fields.refuse("'{}' has {} bytes when it is normalized, expected 1 to {}",
                    printable(token.content), token.form.size(), kMostTokenBytes);
    }
    (token.normalized ? normalized_ : plain_).push_back({token.form, tokens_.size()});
    by_content_.push_back(tokens_.size());
    tokens_.push_back(std::move(token));
  }
  const auto content = [this](size_t i) -> std::string_view { return tokens_[i].content; };
  std::ranges::sort(by_content_, {}, content);
  const auto twice = std::ranges::adjacent_find(by_content_, {}, content);
  if (twice != by_content_.end()) {
    list[*std::next(twice)].refuse("the token '{}' is there twice", printable(content(*twice)));
  }
  // Of tokens that normalize to the same the first special one is meant, then the first.
  for (Soughts* soughts : {&plain_, &normalized_}) {
    std::ranges::stable_sort(*soughts, [this](const Sought& a, const Sought& b) {
      if (a.text != b.text) return a.text < b.text;
      return tokens_[a.token].special && !tokens_[b.token].special;
    });
    const auto same = [](const Sought& a, const Sought& b) { return a.text == b.text; };
    soughts->erase(std::unique(soughts->begin(), soughts->end(), same), soughts->end());
  }
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto of = [this](size_t i) -> std::string_view { return tokens_[i].content; };
  const auto at = std::ranges::lower_bound(by_content_, content, {}, of);
  return at == by_content_.end() || of(*at) != content ? nullptr : &tokens_[*at];
}
const AddedToken* AddedTokens::find(int64_t id) const {
  const auto at = by_id_.find(id);
  return at == by_id_.end() ? nullptr : &tokens_[at->second];
}

size_t AddedTokens::size_beside(const Vocabulary& vocabulary) const {
  return static_cast<size_t>(std::ranges::count_if(
      tokens_, [&](const AddedToken& token) { return vocabulary.find(token.content) < 0; }));
}

// Narrows the patterns byte by byte to those that go on as the text does.
size_t AddedTokens::longest_at(const Soughts& soughts, std::string_view text, size_t at) const {
  auto begin = soughts.begin(), end = soughts.end();
  size_t found = kNowhere;
  for (size_t n = 0; begin != end && at + n < text.size();) {
    const auto byte = [n](const Sought& sought) { return static_cast<uint8_t>(sought.text[n]); };
    const auto wanted = static_cast<uint8_t>(text[at + n]);
    begin = std::ranges::lower_bound(begin, end, wanted, {}, byte);
    end = std::ranges::upper_bound(begin, end, wanted, {}, byte);
    ++n;
    if (begin == end || begin->text.size() > n) continue;
    found = static_cast<size_t>(begin - soughts.begin());
    ++begin;  // those behind it are longer
  }
  return found;
}

void AddedTokens::cut_piece(const Soughts& soughts, const Piece& piece, Pieces* out) const {
  const std::string_view text = piece.text;
  const auto add_text = [&](size_t begin, size_t end) {
    if (begin < end) {
      out->push_back({std::string(text.substr(begin, end - begin)), -1, piece.first && begin == 0});
    }
  };
  size_t done = 0;
  Spaces spaces(text);
  for (size_t at = 0; at < text.size();) {
    const size_t found = longest_at(soughts, text, at);
    if (found == kNowhere) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[soughts[found].token];
    size_t begin = at, end = at + soughts[found].text.size();
    at = end;
    if (token.single_word &&
        (ends_with_word(text.substr(0, begin)) || starts_with_word(text.substr(end)))) {
      continue;
    }
    if (token.lstrip) {
      begin = begin > done ? done + begin_of_spaces(text.substr(done, begin - done)) : done;
    }
    if (token.rstrip) end = spaces.end_from(end);
    add_text(done, begin);
    // Of a token that is a space there may be nothing left.
    if (begin < end) out->push_back({"", token.id, false});
    done = end;
  }
  add_text(done, text.size());
}

void AddedTokens::cut_out(Pieces* pieces, bool normalized) const {
  const Soughts& soughts = normalized ? normalized_ : plain_;
  if (soughts.empty()) return;
  Pieces out;
  for (Piece& piece : *pieces) {
    if (piece.token >= 0) {
      out.push_back(std::move(piece));
    } else {
      cut_piece(soughts, piece, &out);
    }
  }
  *pieces = std::move(out);
}

}  // namespace tenon::tokenizers
