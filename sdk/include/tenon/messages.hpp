// Text of others in messages: a name or a value from a file, a command line or a plugin, made safe
// to print and of bounded length, and the nearest known name. For libtenon.so, the command and the
// plugin `files`. Needs nothing of the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tenon {
namespace [[gnu::visibility("hidden")]] messages {

inline constexpr size_t kMostOfName = 80;       // bytes of a name that a message shows
inline constexpr size_t kMostOfMessage = 4096;  // bytes of a whole message

// The character that `text`, which is not empty, begins with, and its bytes; 0 bytes where that is
// no UTF-8 (RFC 3629).
inline size_t first_character(std::string_view text, uint32_t* code) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  *code = lead;
  if (lead < 0x80) return 1;
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return 0;
  *code = lead & (0xffu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    *code = *code << 6 | (byte(i) & 0x3fu);
  }
  const bool overlong = *code < (bytes == 2 ? 0x80u : bytes == 3 ? 0x800u : 0x10000u);
  return overlong || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : bytes;
}

// Shows as itself and leaves the rest of the line alone: no control character, no mark of writing
// direction, nothing that cannot be seen.
inline bool is_visible(uint32_t code) {
  constexpr std::pair<uint32_t, uint32_t> kHidden[] = {
      {0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},      {0x61c, 0x61c},   {0x180e, 0x180e},
      {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},  {0xfdd0, 0xfdef}, {0xfeff, 0xfeff},
      {0xfff9, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
  return (code & 0xfffe) != 0xfffe && std::ranges::none_of(kHidden, [code](const auto& range) {
           return code >= range.first && code <= range.second;
         });
}

// `text` with \xNN for each byte of what cannot be seen, but for the characters in `kept`.
inline std::string escaped(std::string_view text, std::string_view kept = "") {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    uint32_t code = 0;
    const size_t bytes = first_character(text, &code);
    if (bytes > 0 && (is_visible(code) || kept.find(text[0]) != kept.npos)) {
      out += text.substr(0, bytes);
    } else {
      for (const char c : text.substr(0, std::max<size_t>(bytes, 1))) {
        out += {'\\', 'x', kDigits[static_cast<uint8_t>(c) >> 4], kDigits[c & 15]};
      }
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return out;
}

// Is it what `escaped` gives back unchanged?
inline bool is_visible(std::string_view text) {
  constexpr auto plain = [](char c) { return c >= ' ' && c <= '~'; };
  return std::ranges::all_of(text, plain) || escaped(text) == text;
}

// `at` or a little less: where no character is cut in two.
inline size_t cut_before(std::string_view text, size_t at) {
  for (size_t i = at; i > 0 && at - i < 4; --i) {
    if ((static_cast<uint8_t>(text[i]) & 0xc0) != 0x80) return i;
  }
  return at;
}

// A name or a value as a message shows it, on one line: at most `most` bytes of it.
inline std::string printable(std::string_view text, size_t most = kMostOfName) {
  if (text.size() <= most) return escaped(text);
  return escaped(text.substr(0, cut_before(text, most))) + "... (" + std::to_string(text.size()) +
         " bytes)";
}

// A whole message, whatever was put into it: lines and tabs stay, and of what is too long the
// beginning, which says where, and the end, which says why.
inline std::string cleaned(std::string message) {
  constexpr size_t kTail = kMostOfMessage / 4,
                   kMiddle = 64;  // at most " ... (N bytes left out) ... "
  constexpr auto plain = [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t'; };
  if (!std::ranges::all_of(message, plain)) message = escaped(message, "\n\t");
  if (message.size() <= kMostOfMessage) return message;
  const std::string_view all = message;
  const size_t head = cut_before(all, kMostOfMessage - kTail - kMiddle);
  const size_t tail = cut_before(all, all.size() - kTail);
  return std::string(all.substr(0, head)) + " ... (" + std::to_string(tail - head) +
         " bytes left out) ... " + std::string(all.substr(tail));
}

inline constexpr size_t kMostCompared = 64;  // a longer name is nobody's slip of the finger

// Levenshtein distance, capitals or not; more than `most` as soon as it is known to be more. Both
// are at most kMostCompared long.
inline size_t edit_distance(std::string_view a, std::string_view b, size_t most) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  size_t row[kMostCompared + 1];
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i), least = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (lower(a[i - 1]) != lower(b[j - 1]) ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
      least = std::min(least, row[j]);
    }
    if (least > most) return least;
  }
  return row[b.size()];
}

// The candidate with the smallest edit distance to `name`, if that is at most a third of its length
// (at least 2) and leaves something of it; else "". A name or a candidate of more than
// kMostCompared bytes is not compared, so the time is bounded whatever a file says.
inline std::string_view nearest(std::string_view name, std::span<const std::string> candidates) {
  std::string_view found;
  if (name.size() > kMostCompared) return found;
  size_t most = std::max<size_t>(2, name.size() / 3);
  for (const std::string& candidate : candidates) {
    const size_t longer = std::max(name.size(), candidate.size());
    const size_t shorter = std::min(name.size(), candidate.size());
    if (candidate.size() > kMostCompared || longer - shorter > most) continue;
    const size_t distance = edit_distance(name, candidate, most);
    if (distance > most || distance >= longer) continue;
    found = candidate;
    if (distance == 0) break;
    most = distance - 1;  // only a nearer one replaces it
  }
  return found;
}

// "; did you mean 'linear'?" or "".
inline std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::string_view near = nearest(name, candidates);
  return near.empty() ? "" : "; did you mean '" + std::string(near) + "'?";
}

}  // namespace gnu::visibility("hidden")]]messages
}  // namespace tenon
